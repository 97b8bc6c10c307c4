import Settings

/// The server's limits over all apps (`server.limits`).
package struct ServerLimits: Hashable, Sendable {
    /// Passwords that wait for their hash: each takes some 30 ms, one after the other.
    package var waitingLogIns: Int
    /// Concurrent connections, with and without log-in.
    package var connections: Int
    /// Concurrent connections from one address.
    package var connectionsPerAddress: Int
    /// Sync connections of one user.
    package var connectionsPerUser: Int
    /// Bytes of incoming messages; bodies of requests may use a quarter of that in addition.
    package var incomingBytes: Int
    /// The largest size of an object, as a JSON document.
    package var documentBytes: Int
    /// Bytes of pending corrections for one client.
    package var correctionBytes: Int
    /// Requests of one user to compare a realm.
    package var comparisonsPerMinute: Int
    /// Objects that one comparison lists.
    package var comparedObjects: Int

    package init(
        waitingLogIns: Int = 256,
        connections: Int = 10_000,
        connectionsPerAddress: Int = 5000,
        connectionsPerUser: Int = 1000,
        incomingBytes: Int = 256 << 20,
        documentBytes: Int = 16 << 20,
        correctionBytes: Int = 64 << 20,
        comparisonsPerMinute: Int = 30,
        comparedObjects: Int = 1000
    ) {
        self.waitingLogIns = waitingLogIns
        self.connections = connections
        self.connectionsPerAddress = connectionsPerAddress
        self.connectionsPerUser = connectionsPerUser
        self.incomingBytes = incomingBytes
        self.documentBytes = documentBytes
        self.correctionBytes = correctionBytes
        self.comparisonsPerMinute = comparisonsPerMinute
        self.comparedObjects = comparedObjects
    }

    package static let standard = ServerLimits()
}

extension ServerLimits {
    package var bodyBytes: Int { incomingBytes / 4 }

    /// Room for the largest message and some others.
    private static let incomingRange = (32 << 20)...(64 << 30)

    private static let documentRange = (64 << 10)...(64 << 20)

    private static let correctionRange = (1 << 20)...(1 << 30)

    init(reading keys: MappingReader) {
        func count(_ key: String, _ usual: Int, upTo limit: Int = 1_000_000) -> Int {
            keys.optional(key, default: usual) { $0.integer(in: 1...limit) }
        }
        let standard = Self.standard
        self.init(
            waitingLogIns: count("waiting_log_ins", standard.waitingLogIns, upTo: 100_000),
            connections: count("connections", standard.connections),
            connectionsPerAddress: count(
                "connections_per_address",
                standard.connectionsPerAddress
            ),
            connectionsPerUser: count("connections_per_user", standard.connectionsPerUser),
            incomingBytes: keys.optional("incoming", default: standard.incomingBytes) {
                $0.size(in: Self.incomingRange)
            },
            documentBytes: keys.optional("document", default: standard.documentBytes) {
                $0.size(in: Self.documentRange)
            },
            correctionBytes: keys.optional("corrections", default: standard.correctionBytes) {
                $0.size(in: Self.correctionRange)
            },
            comparisonsPerMinute: count(
                "comparisons_per_minute",
                standard.comparisonsPerMinute,
                upTo: 60_000
            ),
            comparedObjects: count("compared_objects", standard.comparedObjects, upTo: 100_000)
        )
    }
}
