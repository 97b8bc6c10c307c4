import NIOHTTP1

extension ControlClient {
    /// The user's keys afterwards; after a creation the new one alone, with its secret.
    package func apiKeys(
        of user: String,
        _ request: UserKeyRequest
    ) async throws(ControlError) -> UserKeysReport {
        let path = "v1/users/\(user)/api-keys"
        func id(_ id: String) -> String { "\(path)/\(Self.escaped(id))" }
        switch request {
        case .list: return try await call(.GET, path, timeout: Self.callTimeout)
        case .create(let name): return try await post(path, UserKeyName(name: name))
        case .enable(let key):
            return try await call(.POST, "\(id(key))/enable", timeout: Self.callTimeout)
        case .disable(let key):
            return try await call(.POST, "\(id(key))/disable", timeout: Self.callTimeout)
        case .delete(let key):
            return try await call(.DELETE, id(key), timeout: Self.callTimeout)
        }
    }
}
