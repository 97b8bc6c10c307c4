import FoundationEssentials
import Settings

/// Reads secrets from their configured sources, at each use.
struct SecretSource: Sendable {
    let environment: [String: String]

    static let ofProcess = SecretSource(environment: ProcessInfo.processInfo.environment)

    /// An error of reading a secret; never contains the secret.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func read(_ reference: SecretReference) throws(Failure) -> String {
        switch reference {
        case .credential(let name): try credential(name)
        case .file(let path): try file(path)
        case .environment(let name): try variable(name)
        }
    }

    /// A systemd credential of the unit.
    private func credential(_ name: String) throws(Failure) -> String {
        guard let directory = environment["CREDENTIALS_DIRECTORY"] else {
            throw Failure(
                description: "credential \"\(name)\": the service manager passed no credentials; "
                    + "add LoadCredential=\(name) to the unit"
            )
        }
        // The packaged unit loads a whole directory, and systemd puts the unit's name in front.
        let ofDirectory = "\(directory)/realm-agent_\(name)"
        let isOfDirectory = FileManager.default.fileExists(atPath: ofDirectory)
        return try file(isOfDirectory ? ofDirectory : "\(directory)/\(name)")
    }

    private func file(_ path: String) throws(Failure) -> String {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch let error as CocoaError {
            throw Failure(description: "the file \(path) cannot be read: \(Self.reason(error))")
        } catch {
            throw Failure(description: "the file \(path) cannot be read")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Failure(description: "the file \(path) is not UTF-8 text")
        }
        return try withoutLineEnd(text, "the file \(path)")
    }

    private static func reason(_ error: CocoaError) -> String {
        switch error.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
        case .fileReadNoPermission: "the agent's user may not read it"
        default: "it is not a readable file"
        }
    }

    private func variable(_ name: String) throws(Failure) -> String {
        guard let value = environment[name] else {
            throw Failure(description: "the environment variable \(name) is not set")
        }
        return try withoutLineEnd(value, "the environment variable \(name)")
    }

    /// Editors end files with a line end that does not belong to the secret.
    private func withoutLineEnd(_ text: String, _ place: String) throws(Failure) -> String {
        // As one character, CR LF is not LF.
        let secret = text.last?.isNewline == true ? text.dropLast() : text[...]
        guard !secret.isEmpty else { throw Failure(description: "\(place) is empty") }
        return String(secret)
    }
}
