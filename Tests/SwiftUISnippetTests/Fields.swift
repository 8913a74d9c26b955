// The snippets on toggles and on fields that people type in.

import Foundation
import PickerSync

struct SignIn: SharedForm {
    // snippet 35: mechanical: shared, secret(password)
    @Shared private var username: String = ""
    @Shared private var password: Secret = ""

    var body: some View {
        VStack {
            TextField("Username", text: $username)
                .autocorrectionDisabled(true)
                #if !os(macOS)
                    .textInputAutocapitalization(.never)
                #endif

            SecureField("Password", text: $password)
                .onSubmit {
                    handleLogin(username: username, password: password)
                }
        }
        .textFieldStyle(.roundedBorder)
    }
    // end

    private func handleLogin(username: String, password: Secret) {}
}

struct PromptedSignIn: SharedForm {
    @Shared private var username: String = ""
    @Shared private var password: Secret = ""

    var body: some View {
        // snippet 36: unchanged
        Form {
            TextField(text: $username, prompt: Text("Required")) {
                Text("Username")
            }
            .autocorrectionDisabled(true)
            #if !os(macOS)
                .textInputAutocapitalization(.never)
            #endif

            SecureField(text: $password, prompt: Text("Required")) {
                Text("Password")
            }
        }
        // end
    }
}

struct LabeledToggle: SharedForm {
    // snippet 38: mechanical: shared
    @Shared private var vibrateOnRing = false

    var body: some View {
        Toggle(isOn: $vibrateOnRing) {
            Text("Vibrate on Ring")
        }
    }
    // end
}

struct PicturedToggle: SharedForm {
    // snippet 39: mechanical: shared
    @Shared private var vibrateOnRing = true

    var body: some View {
        Toggle(
            "Vibrate on Ring",
            systemImage: "dot.radiowaves.left.and.right",
            isOn: $vibrateOnRing
        )
    }
    // end
}

struct TitledToggle: SharedForm {
    // snippet 57: mechanical: shared
    @Shared private var vibrateOnRing = true

    var body: some View {
        Toggle("Vibrate on Ring", isOn: $vibrateOnRing)
    }
    // end
}

struct SubtitledToggle: SharedForm {
    // snippet 58: mechanical: shared
    @Shared private var vibrateOnRing = false

    var body: some View {
        Toggle(isOn: $vibrateOnRing) {
            Text("Vibrate on Ring")
            Text("Enable vibration when the phone rings")
        }
    }
    // end
}

struct SwitchToggles: SharedForm {
    @Shared private var vibrateOnRing = false
    @Shared private var vibrateOnSilent = false

    var body: some View {
        // snippet 59: unchanged
        VStack {
            Toggle("Vibrate on Ring", isOn: $vibrateOnRing)
            Toggle("Vibrate on Silent", isOn: $vibrateOnSilent)
        }
        .toggleStyle(.switch)
        // end
    }
}
