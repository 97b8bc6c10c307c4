import JSON

/// Operations on email/password accounts before a log-in (app services, 6).
extension AppClient {
    /// Creates an account, which may have to be confirmed before the first log-in.
    package func register(email: String, password: String) async throws(ServiceError) {
        try await account("register", ["email": .string(email), "password": .string(password)])
    }

    /// Confirms an account with what its owner was sent.
    package func confirm(token: String, tokenID: String) async throws(ServiceError) {
        try await account("confirm", ["token": .string(token), "tokenId": .string(tokenID)])
    }

    /// Has the confirmation sent again, or the confirmation function run again.
    package func sendConfirmation(
        email: String,
        callsFunction: Bool = false
    ) async throws(ServiceError) {
        let path = callsFunction ? "confirm/call" : "confirm/send"
        try await account(path, ["email": .string(email)])
    }

    /// Has the means to set a new password sent to the account's owner.
    package func sendPasswordReset(email: String) async throws(ServiceError) {
        try await account("reset/send", ["email": .string(email)])
    }

    /// Sets a new password with the token and id that the account's owner received.
    package func resetPassword(
        _ password: String,
        token: String,
        tokenID: String
    ) async throws(ServiceError) {
        try await account(
            "reset",
            [
                "password": .string(password), "token": .string(token),
                "tokenId": .string(tokenID),
            ]
        )
    }

    /// Sets a new password if the app's own function agrees; it gets no further arguments.
    package func callPasswordReset(email: String, password: String) async throws(ServiceError) {
        try await account(
            "reset/call",
            ["email": .string(email), "password": .string(password), "arguments": .array([])]
        )
    }

    private func account(
        _ path: String,
        _ body: [String: JSONValue]
    ) async throws(ServiceError) {
        let response = try await call(
            .post,
            "\(ServicePath.app(appID))/auth/providers/local-userpass/\(path)",
            body: Array(JSONValue.object(body).text.utf8)
        )
        _ = try ResponseClassifier.body(of: response)
    }
}
