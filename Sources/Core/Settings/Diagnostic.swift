package import YAML

/// A mistake in a text that a person wrote: location, problem and remedy.
package struct Diagnostic: Hashable, Sendable {
    package let location: TextLocation
    package let severity: Severity
    package let code: Code
    package let path: SettingPath
    /// The problem, as a clause: "unknown key".
    package let problem: String
    /// The remedy, as a clause: "did you mean "schedule"?".
    package let remedy: String

    package init(
        at location: TextLocation,
        severity: Severity = .error,
        _ code: Code,
        _ path: SettingPath,
        _ problem: String,
        remedy: String
    ) {
        self.location = location
        self.severity = severity
        self.code = code
        self.path = path
        self.problem = problem
        self.remedy = remedy
    }

    package enum Severity: String, Hashable, Sendable {
        /// The text is refused.
        case error
        /// The text is used unchanged.
        case warning
    }

    /// The stable name of a kind of diagnostic; `docs/errors.md` lists them.
    package struct Code: Hashable, Sendable {
        package let word: String

        package init(_ word: String) {
            self.word = word
        }
    }
}

extension Diagnostic: CustomStringConvertible {
    /// One line: `FILE:LINE:COLUMN: error: KEY.PATH: PROBLEM; REMEDY`.
    package var description: String {
        let prefix = path.isRoot ? "" : "\(path): "
        return "\(location): \(severity.rawValue): \(prefix)\(problem); \(remedy)"
    }
}

extension Diagnostic.Code {
    /// The text is not one YAML document.
    package static let syntax = Self("config.syntax")
    /// The text is larger or deeper than any legitimate one.
    package static let tooLarge = Self("config.too_large")
    package static let duplicateKey = Self("config.duplicate_key")
    package static let unknownKey = Self("config.unknown_key")
    package static let missingKey = Self("config.missing_key")
    /// A list where a mapping belongs, a word where a number belongs.
    package static let wrongType = Self("config.wrong_type")
    /// Of the right type, but out of range or malformed.
    package static let badValue = Self("config.bad_value")
    /// A key or value of the documented configuration that this version does not support yet.
    package static let unsupported = Self("config.unsupported")
    /// The text itself contains a secret.
    package static let plainSecret = Self("config.plain_secret")
    /// Two settings exclude each other.
    package static let conflict = Self("config.conflict")
    /// A name does not refer to anything.
    package static let unknownName = Self("config.unknown_name")
    /// A file named in the text cannot be read.
    package static let unreadable = Self("config.unreadable")
    /// A setting that weakens protection.
    package static let insecure = Self("config.insecure")
}
