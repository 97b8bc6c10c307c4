import AppServices
package import Control
import Platform
import RealmSync

/// Operations of the control API on users' own API keys.
extension AgentService {
    package func apiKeys(
        of name: String,
        _ request: UserKeyRequest
    ) async throws(ControlError) -> UserKeysReport {
        guard let session = await running.sessions[name] else { throw .unknownUser(name) }
        do throws(UserSession.Failure) {
            switch request {
            case .list: break
            case .create(let keyName):
                return UserKeysReport([try await session.createKey(named: keyName)])
            case .enable(let id): try await session.change(.enable(try Self.key(id)))
            case .disable(let id): try await session.change(.disable(try Self.key(id)))
            case .delete(let id): try await session.change(.delete(try Self.key(id)))
            }
            return UserKeysReport(try await session.keys())
        } catch {
            throw ControlError(keyFailure: error, user: name)
        }
    }

    private static func key(_ id: String) throws(UserSession.Failure) -> KeyID {
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
        let (code, message): (String, String)
        switch failure {
        case .logInRefused("APIKeyNotFound", let text):
            (code, message) = ("auth.unknown_key", text)
        case .logInRefused("APIKeyAlreadyExists", let text):
            (code, message) = ("auth.key_exists", text)
        case .logInRefused(let reason, let text):
            (code, message) = ("auth.keys_refused", "\(text) (\(reason))")
        default:
            self.init(failure, user: user)
            return
        }
        self.init(
            code: code,
            message: message,
            remedy: ErrorCatalogue.remedy(for: code, realm: nil, user: user)
        )
    }
}
