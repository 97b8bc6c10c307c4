import ServerStore
import Surroundings

extension SyncEngine {
    /// Unused client files are removed after a day.
    private static let graceInMilliseconds: Int64 = 86_400_000
    private static let atOnce = 200

    /// Removes unused files: client files without any IDENT, and realms without any change. All
    /// clients of such a realm were absent for longer than the offline limit. Piece by piece: the
    /// writer is free in between.
    ///
    /// - Parameter connected: files with a session, which count as seen.
    func sweep(
        _ app: AppID,
        offlineLimitInMilliseconds limit: Int64?,
        connected: Set<ServerFileID>
    ) async throws {
        let now = clock.millisecondsSince1970()
        while true {
            let count = try await store.write(.app(app)) { transaction in
                try transaction.removeUnidentifiedClientFiles(
                    of: app,
                    seenBefore: now - Self.graceInMilliseconds,
                    limit: Self.atOnce
                )
            }
            guard count == Self.atOnce else { break }
        }
        let time = limit.map { now - $0 }
        var last: ServerFileID?
        while true {
            let files = try await store.read { [last] snapshot in
                try snapshot.emptyFiles(of: app, seenBefore: time, after: last, limit: Self.atOnce)
            }
            guard let end = files.last else { return }
            try await store.write(.app(app)) { transaction in
                for file in files where !connected.contains(file) {
                    try transaction.removeIfEmpty(file, seenBefore: time)
                }
            }
            last = end
        }
    }
}
