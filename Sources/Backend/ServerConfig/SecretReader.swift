import FoundationEssentials
import ServerStore
package import Settings

/// Reads the secrets that a configuration refers to.
package struct SecretReader: Sendable {
    private let environment: [String: String]

    package init(environment: [String: String]) {
        self.environment = environment
    }

    package struct Missing: CodedError, CustomStringConvertible {
        let reference: String
        /// Whether the secret is in a file, not a variable or a credential.
        let isAboutFile: Bool
        let reason: String

        package let code = "config.unreadable"

        package var description: String { "\(reference) \(reason)" }
    }

    /// The text, without the line break at its end.
    package func read(_ reference: SecretReference) throws(Missing) -> String {
        switch reference {
        case .environment(let variable):
            guard let text = environment[variable] else {
                throw missing(reference, "is not set")
            }
            return text
        case .file(let path):
            return try read(path, reference)
        case .credential(let name):
            guard let directory = environment["CREDENTIALS_DIRECTORY"] else {
                throw missing(reference, "needs a service manager that passes credentials")
            }
            return try read("\(directory)/\(name)", reference)
        }
    }

    private func read(_ path: String, _ reference: SecretReference) throws(Missing) -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw missing(reference, "cannot be read")
        }
        var text = String(decoding: data, as: UTF8.self)
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }

    private func missing(_ reference: SecretReference, _ reason: String) -> Missing {
        var isAboutFile = false
        if case .file = reference { isAboutFile = true }
        return Missing(
            reference: reference.description,
            isAboutFile: isAboutFile,
            reason: reason
        )
    }
}
