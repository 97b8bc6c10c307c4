package import ServerStore
import Versions

/// A store that checks the guard of each request for a session, as one must that can go back.
package final class GuardingStore: Store {
    private let store: any Store

    package init(_ store: any Store) {
        self.store = store
    }

    package func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try await store.write(request) { transaction in
            try request.session?.verify(in: transaction)
            return try body(transaction)
        }
    }

    package func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        try await store.read(request) { snapshot in
            try request.session?.verify(in: snapshot)
            return try body(snapshot)
        }
    }

    package func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        try await store.holdingState(body)
    }
}

extension SessionGuard {
    fileprivate func verify(in store: any FileReading) throws(StoreError) {
        guard let file = try store.file(client.file),
            let record = try store.clientFile(client.ident, in: client.file)
        else { return try verify(nil) }
        var salt: Salt?
        if let newest { salt = try store.salt(of: newest.version, in: file.id) }
        try verify(
            Stored(
                generation: file.generation,
                clientVersion: record.upload.clientVersion,
                sessionEpoch: record.sessionEpoch,
                currentVersion: file.currentVersion,
                base: file.baseVersion,
                newestSalt: salt
            )
        )
    }
}
