package import ServerStore
import Surroundings

extension SyncEngine {
    /// Unused client files are removed after a day.
    private static let graceInMilliseconds: Int64 = 86_400_000
    private static let atOnce = 200

    /// Removes unused files: client files without any IDENT, and realms without any change. All
    /// clients of such a realm were absent for longer than the offline limit. Each write is about one
    /// file: others are free in between.
    ///
    /// - Parameter connected: files with a session, which count as seen.
    func sweep(
        _ app: AppID,
        offlineLimitInMilliseconds limit: Int64?,
        connected: Set<ServerFileID>
    ) async throws {
        let now = clock.millisecondsSince1970()
        try await removeUnidentifiedClientFiles(of: app, seenBefore: now - Self.graceInMilliseconds)
        let time = limit.map { now - $0 }
        var last: ServerFileID?
        while true {
            let files = try await store.read { [last] snapshot in
                try snapshot.emptyFiles(of: app, seenBefore: time, after: last, limit: Self.atOnce)
            }
            guard let end = files.last else { return }
            for file in files where !connected.contains(file) {
                try await store.write(.file(file), for: .upkeep) { transaction in
                    try transaction.removeIfEmpty(file, seenBefore: time)
                }
            }
            last = end
        }
    }

    private func removeUnidentifiedClientFiles(
        of app: AppID,
        seenBefore time: Int64
    ) async throws {
        while true {
            let unused = try await store.read { snapshot in
                try snapshot.unidentifiedClientFiles(
                    of: app,
                    seenBefore: time,
                    limit: Self.atOnce
                )
            }
            let byFile = Dictionary(grouping: unused, by: \.file)
            for (file, clients) in byFile.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                try await store.write(.file(file), for: .upkeep) { transaction in
                    for client in clients {
                        // One may have been used meanwhile.
                        let record = try transaction.clientFile(client.ident, in: file)
                        guard record?.sessionEpoch == 0 else { continue }
                        try transaction.removeClientFile(client.ident, in: file)
                    }
                }
            }
            guard unused.count == Self.atOnce else { return }
        }
    }

    /// Removes what terminations of sync left, a portion in each transaction.
    package func removeRemains(of app: AppID) async throws {
        var last: ServerFileID?
        while true {
            let files = try await store.read { [last] snapshot in
                try snapshot.filesWithRemains(of: app, after: last, limit: Self.atOnce)
            }
            guard let end = files.last else { return }
            for file in files {
                while try await store.write(
                    .file(file),
                    for: .upkeep,
                    { try $0.removeRemains(of: file) }
                ) {}
            }
            last = end
        }
    }
}
