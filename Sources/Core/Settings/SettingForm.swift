/// The accepted values of a setting, as described by the readers.
package indirect enum SettingForm: Hashable, Sendable {
    /// Any scalar.
    case text
    /// A string that the regular expression matches as a whole.
    case pattern(String)
    case boolean
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case choice([String])
    /// The literal null.
    case null
    case list(SettingForm)
    /// A mapping with fixed keys.
    case mapping(MappingForm)
    /// A mapping whose keys are names that people choose.
    case named(SettingForm)
    /// Any of several; empty if nothing is known of the value.
    case anyOf([SettingForm])
}

/// The keys of a mapping, in the order in which they are read.
package struct MappingForm: Hashable, Sendable {
    package var keys: [Key] = []
    /// Exactly one of these must be present; empty if there is no such rule.
    package var oneOfKeys: [String] = []
    package var dependences: [Dependence] = []

    package struct Key: Hashable, Sendable {
        package let name: String
        package let form: SettingForm
        package let isRequired: Bool
    }

    /// A key that is only allowed with certain choices of another key.
    package struct Dependence: Hashable, Sendable {
        package let key: String
        package let other: String
        package let choices: [String]
        /// Whether it is required with them.
        package let isRequired: Bool
    }
}

/// Gathers the form of one value while a reader describes it.
package final class FormRecorder {
    private var forms: [SettingForm] = []

    package init() {}

    package var form: SettingForm { forms.count == 1 ? forms[0] : .anyOf(forms) }

    func add(_ form: SettingForm) {
        if !forms.contains(form) { forms.append(form) }
    }
}

extension SettingForm {
    /// The values that `read` accepts: it runs once without a document.
    package static func described(by read: (NodeReader) -> Void) -> SettingForm {
        let recorder = FormRecorder()
        read(NodeReader(describing: recorder, path: .root))
        return recorder.form
    }
}
