/// The server's storage of accounts, histories and documents (sync history, 11).
///
/// Every implementation passes the same suite of tests. The bodies run on the store's own threads,
/// and those of one server file one at a time. They may block but must not take long. Their results
/// are sent to the caller.
package protocol Store: Sendable {
    /// Runs the body in a transaction that commits when it returns and rolls back when it throws.
    /// After the return the changes survive a crash. Owners take turns.
    ///
    /// The body stays within the scope, and may run more than once: it has no effect but on the
    /// transaction, and takes time and chance from outside. Of several runs the last one counts.
    ///
    /// Throws the errors of the body and `StoreError`.
    func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome

    /// Runs the body on one consistent state. It may run more than once.
    func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome

    /// Lends one consistent state for as long as the body runs. It reads piece by piece. Neither
    /// writers nor other readers wait for it. Concurrent bodies may have to take turns.
    func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome
}

/// The same calls, with the parts of the request as parameters.
extension Store {
    /// Without an owner: for log-ins, accounts and operators.
    package func write<Outcome: Sendable>(
        _ scope: WriteScope,
        for owner: WriteOwner = .accounts,
        guarding session: SessionGuard? = nil,
        expecting reads: @autoclosure @escaping @Sendable () -> ExpectedReads = .none,
        ofSize sizeInBytes: Int = 0,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        let request = WriteRequest(
            scope: scope,
            owner: owner,
            session: session,
            reads: reads(),
            sizeInBytes: sizeInBytes
        )
        return try await write(request, body)
    }

    package func read<Outcome: Sendable>(
        guarding session: SessionGuard? = nil,
        expecting reads: ExpectedReads = .none,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        try await read(ReadRequest(session: session, reads: reads), body)
    }
}

/// A state of the store that does not change while others write.
package protocol HeldState: Sendable {
    func read<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome

    /// Whether this holder alone, of all processes, may build a snapshot of the file, until it gives the
    /// state back (server on PostgreSQL, 6.5).
    func claimSnapshot(of file: ServerFileID) async throws -> Bool
}

/// One consistent state of the store.
package typealias StoreReading = AccountReading & FileReading

/// A transaction's view of the store.
package typealias StoreTransaction = AccountWriting & FileWriting
