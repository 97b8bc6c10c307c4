/// Where the server keeps everything: accounts, histories and documents (sync history, 11).
///
/// Every implementation passes the same suite of tests. The bodies run on the store's own threads,
/// one writer at a time, so they may block but must not take long; what they return leaves them.
package protocol ServerStore: Sendable {
    /// Runs the body in a transaction that commits when it returns and leaves nothing behind when it
    /// throws. After the return the changes survive a crash. Owners take turns.
    func write<Outcome: Sendable>(
        for owner: WriteOwner,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome

    /// Runs the body on one consistent state.
    func read<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreSnapshot) throws -> Outcome
    ) async throws -> Outcome

    /// Lends one consistent state for as long as the body takes: it reads piece by piece, and neither
    /// writers nor other readers wait for it. Bodies that come at the same time take turns.
    func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome
}

extension ServerStore {
    /// Work on accounts.
    package func write<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try await write(for: .accounts, body)
    }
}

/// A state of the store that stays as it is while others write.
package protocol HeldState: Sendable {
    func read<Outcome: Sendable>(
        _ body: @Sendable (any StoreSnapshot) throws -> Outcome
    ) async throws -> Outcome
}

/// One consistent state of the store.
package typealias StoreSnapshot = AccountReading & FileReading

/// A state in the making.
package typealias StoreTransaction = AccountWriting & FileWriting

/// The store did not do what it was asked to: damaged, locked, full, or out of reach.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// Another process uses it.
        case locked
        /// It is not a store, or one of a newer version, or it is damaged.
        case unusable
        case diskFull
        case failed
    }

    package let kind: Kind
    /// What happened and where, for the operator.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }
}

extension StoreError: CodedError {
    package var code: String {
        switch kind {
        case .locked: "store.locked"
        case .unusable: "store.unusable"
        case .diskFull: "store.disk_full"
        case .failed: "store.failed"
        }
    }
}

/// An error with a stable word, explained in `docs/errors.md`.
package protocol CodedError: Error {
    var code: String { get }
}
