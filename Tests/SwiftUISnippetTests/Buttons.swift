// The snippets on buttons.

import Foundation
import PickerSync

private struct Folder: Identifiable, Sendable {
    let id: Int
    let title: String
}

struct Actions: SharedForm {
    private let folders = [Folder(id: 1, title: "Inbox")]
    private func signIn() {}
    private func register() {}
    private func addItem() {}
    private func cut() {}
    private func copy() {}
    private func paste() {}
    private func delete() {}

    var body: some View {
        // snippet 32: unchanged
        Button(action: signIn) {
            Text("Sign In")
        }
        // end
        // snippet 33: unchanged
        Button(action: signIn) {
            Label("Sign In", systemImage: "arrow.up")
        }
        // end
        // snippet 52: unchanged
        Button("Sign In", systemImage: "arrow.up", action: signIn)
        // end
        // snippet 53: unchanged
        Button("Sign In", systemImage: "arrow.up", action: signIn)
            .labelStyle(.iconOnly)
        // end
        // snippet 54: unchanged
        List {
            // Cells that show all the current folders.
            ForEach(folders) { folder in
                Text(folder.title)
            }

            // A cell that, when selected, adds a new folder.
            Button(action: addItem) {
                Label("Add Folder", systemImage: "folder.badge.plus")
            }
        }
        // end
        Text("Inbox")
            // snippet 55: unchanged
            .contextMenu {
                Button("Cut", action: cut)
                Button("Copy", action: copy)
                Button("Paste", action: paste)
            }
        // end
        // snippet 56: unchanged
        Button("Delete", role: .destructive, action: delete)
        // end
        // snippet 81: unchanged
        HStack {
            Button("Sign In", action: signIn)
            Button("Register", action: register)
        }
        .buttonStyle(.bordered)
        // end
    }
}

// snippet 83: unchanged
struct MyButtonStyle: ButtonStyle {
    func makeBody(configuration: Configuration) -> some View {
        configuration.label
            .font(
                configuration.role == .cancel ? .title2.bold() : .title2
            )
            .foregroundColor(
                configuration.role == .destructive ? Color.red : nil)
    }
}
// end

struct StyledButtons: SharedForm {
    var body: some View {
        // snippet 84: unchanged
        VStack(spacing: 20) {
            Button("Cancel", role: .cancel) {}
            Button("Delete", role: .destructive) {}
            Button("Continue") {}
        }
        .buttonStyle(MyButtonStyle())
        // end
    }
}
