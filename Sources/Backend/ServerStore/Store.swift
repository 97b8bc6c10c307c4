/// The server's storage of accounts, histories and documents (sync history, 11).
///
/// Every implementation passes the same suite of tests. The bodies run on the store's own threads,
/// one writer at a time. They may block but must not take long. Their results are sent to the
/// caller.
package protocol Store: Sendable {
    /// Runs the body in a transaction that commits when it returns and rolls back when it throws.
    /// After the return the changes survive a crash. Owners take turns.
    ///
    /// The body stays within the scope, and may run more than once: it has no effect but on the
    /// transaction.
    func write<Outcome: Sendable>(
        _ scope: WriteScope,
        for owner: WriteOwner,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome

    /// Runs the body on one consistent state.
    func read<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome

    /// Lends one consistent state for as long as the body runs. It reads piece by piece. Neither
    /// writers nor other readers wait for it. Concurrent bodies take turns.
    func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome
}

extension Store {
    /// Writes for log-ins, accounts and operators.
    package func write<Outcome: Sendable>(
        _ scope: WriteScope,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try await write(scope, for: .accounts, body)
    }
}

/// A state of the store that does not change while others write.
package protocol HeldState: Sendable {
    func read<Outcome: Sendable>(
        _ body: @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome
}

/// One consistent state of the store.
package typealias StoreReading = AccountReading & FileReading

/// A transaction's view of the store.
package typealias StoreTransaction = AccountWriting & FileWriting
