import AppServices
import Config
import Settings

extension UserConfiguration.Provider {
    var registersAccount: Bool {
        guard case .emailPassword(_, _, let registers) = self else { return false }
        return registers
    }

    /// Reads the secret, which may have changed since the last time.
    func credential() async throws(UserSession.Failure) -> Credential {
        switch self {
        case .anonymous:
            return .anonymous
        case .emailPassword(let email, let reference, _):
            return .emailPassword(email: email, password: try Self.secret(reference))
        case .apiKey(let reference):
            return .apiKey(try Self.secret(reference))
        case .jwt(.secret(let reference)):
            return .customToken(try Self.secret(reference))
        case .jwt(.command(let command)):
            return .customToken(try await TokenCommand(command: command).token())
        case .function(let reference):
            let text = try reference.map { reference throws(UserSession.Failure) in
                try Self.secret(reference)
            }
            guard let payload = FunctionPayload(json: text ?? "{}") else {
                throw .logInRefused(
                    code: "auth.secret_unreadable",
                    message: "the payload is not a JSON object"
                )
            }
            return .customFunction(payload)
        }
    }

    private static func secret(
        _ reference: SecretReference
    ) throws(UserSession.Failure) -> String {
        do throws(SecretSource.Failure) {
            return try SecretSource.ofProcess.read(reference)
        } catch {
            throw .logInRefused(code: "auth.secret_unreadable", message: error.description)
        }
    }
}
