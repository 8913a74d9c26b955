// The declaration of a program: shared values, and the form for them.

internal import SyncCore
internal import TerminalUI

/// A set of ``Shared`` properties of one form, which any program may have declared.
///
///     struct ServiceSettings: SharedState {
///         @Shared var workers: Int
///         @Shared("log-level") var logLevel: LogLevel
///     }
///
/// Follow it with ``FormClient/follow(_:presence:timeout:)``.
public protocol SharedState: Sendable {
    /// The form's name on the daemon: 1 to 63 of a-z, 0-9 and -. By default the type's name,
    /// `service-settings` for `ServiceSettings`.
    static var formName: String { get }
}

extension SharedState {
    /// The type's name in small letters, with a hyphen where a word begins.
    public static var formName: String {
        var name = ""
        let letters = Array(String(describing: Self.self))
        for (index, letter) in letters.enumerated() {
            let isFirstOfWord =
                index > 0 && letter.isUppercase
                && (letters[index - 1].isLowercase
                    || index + 1 < letters.count && letters[index + 1].isLowercase)
            if isFirstOfWord { name += "-" }
            name += letter.lowercased()
        }
        return name
    }

    /// The properties by name, those of a superclass first.
    var sharedProperties: [any FieldIdentity] {
        var found: [any FieldIdentity] = []
        var mirrors: [Mirror] = []
        var next: Mirror? = Mirror(reflecting: self)
        while let mirror = next {
            mirrors.insert(mirror, at: 0)
            next = mirror.superclassMirror
        }
        for child in mirrors.flatMap(\.children) {
            guard let property = child.value as? any SharedProperty, let label = child.label
            else { continue }
            // A wrapped property is stored under its name with an underscore.
            property.identity.take(name: label.hasPrefix("_") ? String(label.dropFirst()) : label)
            found.append(property.identity)
        }
        return found
    }
}

/// A form, declared as SwiftUI declares a view: shared values, and a body of controls.
///
///     struct IceCream: SharedForm {
///         @Shared var flavor = Flavor.chocolate
///         @Shared var scoops = 2
///
///         var body: some View {
///             Form("Ice cream") {
///                 Picker("Flavor", selection: $flavor) {
///                     ForEach(Flavor.self) { Text($0.rawValue) }
///                 }
///                 Stepper("Scoops", value: $scoops, in: 1...5)
///             }
///         }
///     }
///
/// Open it with ``FormClient/open(_:applying:presence:timeout:)`` or
/// ``BlockingFormClient/open(_:applying:presence:)``.
public protocol SharedForm: SharedState {
    /// The type of the body.
    associatedtype Body: View

    /// The form's controls. It is evaluated when the form is opened, and for each reload of a
    /// ``PickerView`` in it.
    @ViewBuilder var body: Body { get }
}

extension SharedForm {
    /// The definition of this declaration, as the JSON of a form file.
    ///
    /// - Throws: all issues, each with its place.
    public func definition() throws(FormIssues) -> JSON {
        try FormDeclaration(self).json
    }
}

/// A declaration made into a definition, with everything that listens to it.
struct FormDeclaration: Sendable {
    let name: String
    let json: JSON
    let properties: [any FieldIdentity]
    let listeners: [FieldListener]
    /// The parts of the declaration that a terminal does not show.
    let notes: [String]
    let styles: [String: [@Sendable (inout StyleEnvironment) -> Void]]
    let attachments: [@Sendable (FormAttachment) -> Void]
    /// Makes the definition again, because a data source may have changed.
    let redeclare: @Sendable () throws(FormIssues) -> JSON

    init(_ form: some SharedForm) throws(FormIssues) {
        let name = type(of: form).formName
        properties = form.sharedProperties
        var lowering = FormLowering(name: name)
        let body = lowering.body(of: type(of: form)) { form.body }
        lowering.add(body, ViewEnvironment())
        json = try lowering.finished()
        self.name = name
        listeners = lowering.listeners
        attachments = lowering.attachments
        notes = lowering.notes
        styles = lowering.styles
        redeclare = { () throws(FormIssues) in try FormDeclaration(form).json }
    }
}
