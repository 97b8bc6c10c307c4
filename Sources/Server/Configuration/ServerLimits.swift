import Settings

/// What the server takes on at once, over all apps (`server.limits`).
package struct ServerLimits: Hashable, Sendable {
    /// Passwords that wait to be hashed: each takes some 30 ms, one after the other.
    package var waitingLogIns: Int

    package init(waitingLogIns: Int = 256) {
        self.waitingLogIns = waitingLogIns
    }

    package static let standard = ServerLimits()

    init(reading keys: MappingReader) {
        self.init(
            waitingLogIns: keys.optional(
                "waiting_log_ins",
                default: Self.standard.waitingLogIns
            ) { $0.integer(in: 1...100_000) }
        )
    }
}
