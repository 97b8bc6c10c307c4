import AppServices
package import Control
import RealmSync

/// Operations of the control API on users' own API keys.
extension AgentService {
    package func apiKeys(
        of name: String,
        _ request: UserKeyRequest
    ) async throws(ControlError) -> UserKeysReport {
        guard let session = await running.sessions[name] else { throw .unknownUser(name) }
        do throws(UserSession.Failure) {
            let change: UserSession.KeyChange
            switch request {
            case .list: return UserKeysReport(try await session.keys())
            case .create(let keyName):
                guard let key = try await session.change(.create(name: keyName)) else {
                    preconditionFailure("a created key is returned")
                }
                return UserKeysReport([key])
            case .enable(let id): change = .enable(try Self.key(id, of: name))
            case .disable(let id): change = .disable(try Self.key(id, of: name))
            case .delete(let id): change = .delete(try Self.key(id, of: name))
            }
            _ = try await session.change(change)
            return UserKeysReport(try await session.keys())
        } catch {
            throw ControlError(keyFailure: error, user: name)
        }
    }

    private static func key(_ id: String, of user: String) throws(UserSession.Failure) -> KeyID {
        guard let id = KeyID(id) else {
            throw .logInRefused(code: "APIKeyNotFound", message: "\"\(id)\" is not the id of a key")
        }
        return id
    }
}

extension UserKeysReport {
    fileprivate init(_ keys: [UserKey]) {
        self.init(
            apiKeys: keys.map {
                UserKeyReport(id: $0.id, name: $0.name, disabled: $0.isDisabled, key: $0.secret)
            }
        )
    }
}

extension ControlError {
    /// The failure of an operation on keys, which says nothing about the user's own credential.
    fileprivate init(keyFailure failure: UserSession.Failure, user: String) {
        switch failure {
        case .logInRefused("APIKeyNotFound", let message):
            self.init(
                code: "auth.unknown_key",
                message: message,
                remedy: "`realm-agent users api-keys list \(user)` lists the keys"
            )
        case .logInRefused("APIKeyAlreadyExists", let message):
            self.init(
                code: "auth.key_exists",
                message: message,
                remedy: "choose another name, or delete the other key"
            )
        case .logInRefused(let code, let message):
            self.init(
                code: "auth.keys_refused",
                message: "\(message) (\(code))",
                remedy: "log in as a user that is not anonymous; ask the server's operator whether "
                    + "the app allows API keys"
            )
        default:
            self.init(failure, user: user)
        }
    }
}
