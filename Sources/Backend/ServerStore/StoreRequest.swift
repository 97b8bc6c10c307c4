/// A write: its place among others, and the knowledge that a store needs before its body runs.
package struct WriteRequest: Hashable, Sendable {
    package let scope: WriteScope
    package let owner: WriteOwner
    /// A session that the write is for: it throws `StoreError` of kind `.changed` if the store went back
    /// behind what that session was told. A store that cannot go back ignores it.
    package let session: SessionGuard?
    /// A hint.
    package let reads: ExpectedReads
    /// Bytes of the changesets that the body integrates: writes of one file share a transaction only up
    /// to a limit.
    package let sizeInBytes: Int

    package init(
        scope: WriteScope,
        owner: WriteOwner,
        session: SessionGuard? = nil,
        reads: ExpectedReads = .none,
        sizeInBytes: Int = 0
    ) {
        self.scope = scope
        self.owner = owner
        self.session = session
        self.reads = reads
        self.sizeInBytes = sizeInBytes
    }
}

/// A read, with the knowledge that a store needs before its body runs.
package struct ReadRequest: Hashable, Sendable {
    /// As for a write.
    package let session: SessionGuard?
    /// A hint.
    package let reads: ExpectedReads

    package init(session: SessionGuard? = nil, reads: ExpectedReads = .none) {
        self.session = session
        self.reads = reads
    }
}
