import JSON

/// A user's own API keys, with the user's refresh token (app services, 7.5).
extension AppClient {
    private static let keysPath = "\(ServicePath.base)/auth/api_keys"

    /// The only response with the key's secret.
    func createKey(named name: String, _ refresh: Token) async throws(ServiceError) -> UserKey {
        let body = JSONValue.object(["name": .string(name)])
        let response = try await call(
            .post,
            Self.keysPath,
            token: refresh,
            body: Array(body.text.utf8)
        )
        return try ResponseClassifier.decode(UserKey.self, from: response)
    }

    func keys(_ refresh: Token) async throws(ServiceError) -> [UserKey] {
        let response = try await call(.get, Self.keysPath, token: refresh)
        return try ResponseClassifier.decode([UserKey].self, from: response)
    }

    func setKey(
        _ id: KeyID,
        isDisabled: Bool,
        _ refresh: Token
    ) async throws(ServiceError) {
        let path = "\(Self.keysPath)/\(id.text)/\(isDisabled ? "disable" : "enable")"
        let response = try await call(.put, path, token: refresh)
        _ = try ResponseClassifier.body(of: response)
    }

    func deleteKey(_ id: KeyID, _ refresh: Token) async throws(ServiceError) {
        let response = try await call(.delete, "\(Self.keysPath)/\(id.text)", token: refresh)
        _ = try ResponseClassifier.body(of: response)
    }
}

/// The id of an API key: safe as a part of a path.
package struct KeyID: Sendable, Equatable {
    package let text: String

    /// Nil for anything but 1 to 64 ASCII letters and digits.
    package init?(_ text: String) {
        guard (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            })
        else { return nil }
        self.text = text
    }
}
