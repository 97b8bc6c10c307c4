package import ServerStore

extension Store {
    /// Prepares or damages what is stored: the scope of an app covers all of it.
    package func write<Outcome: Sendable>(
        for owner: WriteOwner = .accounts,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try await write(.app(.named("shop-abcde")), for: owner, body)
    }
}
