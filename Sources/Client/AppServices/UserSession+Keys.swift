/// The user's own API keys: each logs in as the user (app services, 7.5).
extension UserSession {
    package enum KeyChange: Sendable, Equatable {
        case enable(KeyID)
        case disable(KeyID)
        case delete(KeyID)
    }

    /// All keys, without their secrets.
    package func keys() async throws(Failure) -> [UserKey] {
        try await withRefreshToken { token throws(ServiceError) in try await client.keys(token) }
    }

    /// Returns the new key with its secret.
    package func createKey(named name: String) async throws(Failure) -> UserKey {
        try await withRefreshToken { token throws(ServiceError) in
            try await client.createKey(named: name, token)
        }
    }

    package func change(_ change: KeyChange) async throws(Failure) {
        try await withRefreshToken { token throws(ServiceError) in
            switch change {
            case .enable(let id): try await client.setKey(id, isDisabled: false, token)
            case .disable(let id): try await client.setKey(id, isDisabled: true, token)
            case .delete(let id): try await client.deleteKey(id, token)
            }
        }
    }

    private func withRefreshToken<Answer>(
        _ call: (Token) async throws(ServiceError) -> Answer
    ) async throws(Failure) -> Answer {
        // Logs in, if need be.
        let token = try await validAccount().refreshToken
        return try await mapped { () throws(ServiceError) in try await call(token) }
    }
}
