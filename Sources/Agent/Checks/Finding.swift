/// One result of `doctor`.
package struct Finding: Sendable, Equatable, Encodable {
    /// A word such as `dns`.
    package let check: String
    /// The app, user, realm or path it is about.
    package let subject: String
    package let verdict: Verdict
    package let message: String
    /// The next step for the operator; nil if nothing need be done.
    package let remedy: String?

    package enum Verdict: String, Sendable, Encodable {
        case good, warning, problem
    }

    static func good(_ check: String, _ subject: String, _ message: String) -> Finding {
        Finding(check: check, subject: subject, verdict: .good, message: message, remedy: nil)
    }

    static func warning(
        _ check: String,
        _ subject: String,
        _ message: String,
        remedy: String
    ) -> Finding {
        Finding(
            check: check,
            subject: subject,
            verdict: .warning,
            message: message,
            remedy: remedy
        )
    }

    static func problem(
        _ check: String,
        _ subject: String,
        _ message: String,
        remedy: String
    ) -> Finding {
        Finding(
            check: check,
            subject: subject,
            verdict: .problem,
            message: message,
            remedy: remedy
        )
    }
}

extension Finding: CustomStringConvertible {
    package var description: String {
        let mark =
            switch verdict {
            case .good: "ok     "
            case .warning: "warning"
            case .problem: "PROBLEM"
            }
        return "\(mark)  \(check)  \(subject): \(message)\(remedy.map { "; \($0)" } ?? "")"
    }
}
