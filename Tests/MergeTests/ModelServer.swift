import Changesets
import Documents
import Merge
import Schemas

/// The server half of the history algorithm, in memory (merge rules, 2).
struct ModelServer {
    private(set) var realm: InMemoryRealm
    /// Version n is at n - 1.
    private var history: [Entry] = []
    /// Our entries after merges with a client, as bytes: by client, by version.
    private var reciprocals: [UInt64: [Int: [UInt8]]] = [:]
    /// The last version of each client that is in the history.
    private var integrated: [UInt64: Int] = [:]

    private struct Entry {
        let bytes: [UInt8]
        let stamp: Stamp
        let client: UInt64
        let clientVersion: Int
    }

    init(realm: InMemoryRealm) {
        self.realm = realm
    }

    var version: Int { history.count }

    func integratedVersion(of client: UInt64) -> Int {
        integrated[client, default: 0]
    }

    /// All or nothing: after an error the server is unchanged.
    mutating func integrate(_ uploads: [Upload], from client: UInt64) throws {
        var copy = self
        try copy.integrateAll(uploads, from: client)
        self = copy
    }

    private mutating func integrateAll(_ uploads: [Upload], from client: UInt64) throws {
        var rest = uploads.filter { $0.clientVersion > integratedVersion(of: client) }[...]
        let end = history.count
        var cache: [Int: MergeOperand] = [:]
        var merged: [Entry] = []
        while let base = rest.first?.baseVersion {
            let run = rest.prefix { $0.baseVersion == base }
            rest = rest.dropFirst(run.count)
            let versions = (base..<end).map { $0 + 1 }.filter {
                let entry = history[$0 - 1]
                return entry.client != client && !entry.bytes.isEmpty
            }
            var ours: [MergeOperand] = []
            for version in versions {
                let entry = history[version - 1]
                let bytes = reciprocals[client]?[version] ?? entry.bytes
                let operand = try cache[version] ?? MergeOperand(decoding: bytes, entry.stamp)
                ours.append(operand)
            }
            var theirs = try run.map { try MergeOperand(decoding: $0.bytes, $0.stamp) }
            try rebase(ours: &ours, theirs: &theirs)
            for (version, operand) in zip(versions, ours) {
                cache[version] = operand
            }
            for (upload, operand) in zip(run, theirs) {
                try realm.apply(operand.changeset)
                merged.append(
                    Entry(
                        bytes: operand.changeset.encoded(),
                        stamp: upload.stamp,
                        client: client,
                        clientVersion: upload.clientVersion
                    )
                )
            }
        }
        history += merged
        for (version, operand) in cache where operand.isDirty {
            reciprocals[client, default: [:]][version] = operand.changeset.encoded()
        }
        if let last = uploads.last {
            integrated[client] = max(integratedVersion(of: client), last.clientVersion)
        }
    }

    /// The entries that the client lacks after a version, with the client's own progress at each.
    func downloads(for client: UInt64, after version: Int) -> [Download] {
        var progress = 0
        var downloads: [Download] = []
        for (position, entry) in history.enumerated() {
            if entry.client == client {
                progress = entry.clientVersion
            } else if position + 1 > version, !entry.bytes.isEmpty {
                downloads.append(
                    Download(
                        serverVersion: position + 1,
                        baseVersion: progress,
                        stamp: entry.stamp,
                        bytes: entry.bytes
                    )
                )
            }
        }
        return downloads
    }
}

/// A changeset on its way to the server.
struct Upload {
    let clientVersion: Int
    /// The server version that the client had integrated before it.
    let baseVersion: Int
    let stamp: Stamp
    let bytes: [UInt8]
}

/// A changeset on its way to a client.
struct Download {
    let serverVersion: Int
    /// The client's own version that the server had integrated before it.
    let baseVersion: Int
    let stamp: Stamp
    let bytes: [UInt8]
}

extension MergeOperand {
    init(decoding bytes: [UInt8], _ stamp: Stamp) throws {
        self.init(changeset: try Changeset(decoding: bytes), stamp: stamp)
    }
}
