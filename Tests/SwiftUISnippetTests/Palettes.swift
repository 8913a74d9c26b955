// The snippets on palettes.

import Foundation
import PickerSync

// snippet 10: mechanical: tags(Reaction), shared, fill
enum Reaction: Identifiable, CaseIterable, PickerTag {
    case thumbsup, thumbsdown, heart, questionMark
    var id: Self { self }
}
// end

struct Reactions: SharedForm {
    // snippet 10 continues
    @Shared private var selection: Reaction? = .none

    var body: some View {
        Menu("Reactions") {
            Picker("Palette", selection: $selection) {
                Label("Thumbs up", systemImage: "hand.thumbsup")
                    .tag(Reaction.thumbsup)
                Label("Thumbs down", systemImage: "hand.thumbsdown")
                    .tag(Reaction.thumbsdown)
                Label("Like", systemImage: "heart")
                    .tag(Reaction.heart)
                Label("Question mark", systemImage: "questionmark")
                    .tag(Reaction.questionMark)
            }
            .pickerStyle(.palette)
            Button("Reply...") {}
        }
    }
    // end
}

/// What the snippets' `palettes` and `flags` are.
enum Tinted: String, CaseIterable, Identifiable, PickerTag {
    case warm, cold
    var id: Self { self }
    var title: String { rawValue.capitalized }
    var tint: Color { self == .warm ? .red : .blue }
    var color: Color { tint }
}

struct CustomPalette: SharedForm {
    @Shared private var selection: Tinted = .warm
    private let palettes = Tinted.allCases

    var body: some View {
        // snippet 11: changed: a picture that depends on the selection is one picture an option
        Menu {
            Picker("Palettes", selection: $selection) {
                ForEach(palettes) { palette in
                    Label(palette.title, systemImage: "circle.fill")
                        .tint(palette.tint)
                        .tag(palette)
                }
            }
            .pickerStyle(.palette)
            .paletteSelectionEffect(.custom)
        } label: {
            Text("Palettes")
        }
        // end
    }
}

struct FlagPalette: SharedForm {
    @Shared private var selectedFlag: Tinted = .warm
    private let flags = Tinted.allCases

    var body: some View {
        // snippet 12: mechanical: fill
        Menu {
            Picker("Flags", selection: $selectedFlag) {
                ForEach(flags) { flag in
                    Label(flag.title, systemImage: "flag")
                        .tint(flag.color)
                        .tag(flag)
                }
            }
            .pickerStyle(.palette)
            .paletteSelectionEffect(.symbolVariant(.slash))
        } label: {
        }
        // end
    }
}

struct CustomPaletteByID: SharedForm {
    @Shared private var selection: Tinted = .warm
    private let palettes = Tinted.allCases

    var body: some View {
        // snippet 91: changed: a picture that depends on the selection is one picture an option
        Menu("Reactions") {
            Picker("Palettes", selection: $selection) {
                ForEach(palettes) { palette in
                    Label(palette.title, systemImage: "circle.fill")
                        .tint(palette.tint)
                        .tag(palette.id)
                }
            }
            .pickerStyle(.palette)
            .paletteSelectionEffect(.custom)
            Button("Reply...") {}
        }
        // end
    }
}

struct FlagPaletteByID: SharedForm {
    @Shared private var selection: Tinted = .warm
    private let palettes = Tinted.allCases

    var body: some View {
        // snippet 92: unchanged
        Menu("Reactions") {
            Picker("Flags", selection: $selection) {
                ForEach(palettes) { palette in
                    Label(palette.title, systemImage: "flag")
                        .tint(palette.tint)
                        .tag(palette.id)
                }
            }
            .pickerStyle(.palette)
            .paletteSelectionEffect(.symbolVariant(.slash))
        }
        // end
    }
}
