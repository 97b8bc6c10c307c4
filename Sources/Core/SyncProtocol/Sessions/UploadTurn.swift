package import Versions

/// One scan of the local history, requested by a session.
package struct UploadScan: Hashable, Sendable {
    package let cursor: UploadCursor
    package let end: ClientVersion
}

/// The progress of a session's upload on this connection, and its next step (sync history, 6.1 and
/// 6.2).
struct UploadTurn: Hashable, Sendable {
    private enum State: Hashable {
        case idle
        /// Whether an empty result must still be sent, to acknowledge server versions.
        case scanning(UploadScan, acknowledges: Bool)
        case ready(UploadBatch)
    }

    private(set) var cursor: UploadCursor
    private var state = State.idle
    private var hasSent = false

    init(cursor: UploadCursor) {
        self.cursor = cursor
    }

    /// Whether everything scanned has been sent.
    var isIdle: Bool { state == .idle }

    enum Step: Hashable {
        case scan(UploadScan)
        case send(UploadBatch)
    }

    mutating func next(
        lastVersionAvailable: ClientVersion,
        integrated: ServerVersion
    ) -> Step? {
        switch state {
        case .ready(let batch):
            state = .idle
            hasSent = true
            return .send(batch)
        case .scanning:
            return nil
        case .idle:
            guard lastVersionAvailable > cursor.clientVersion else { return nil }
            let scan = UploadScan(cursor: cursor, end: lastVersionAvailable)
            let acknowledges = cursor.lastIntegratedServerVersion < integrated
            state = .scanning(scan, acknowledges: acknowledges)
            return .scan(scan)
        }
    }

    /// Handles the result of a scan; if it is of an earlier binding, or overtaken by an
    /// acknowledgement, it is dropped and the scan repeated.
    mutating func finish(_ scan: UploadScan, with batch: UploadBatch) {
        guard case .scanning(scan, let acknowledges) = state else { return }
        guard cursor == scan.cursor else {
            state = .idle
            return
        }
        cursor = batch.reached
        let hasNews = acknowledges && batch.progress != scan.cursor
        state = batch.changesets.isEmpty && !hasNews ? .idle : .ready(batch)
    }

    /// The server has more than was sent on this connection: continue from there.
    mutating func acknowledge(_ acknowledged: UploadCursor) {
        guard acknowledged.clientVersion > cursor.clientVersion else { return }
        cursor = acknowledged
        if case .ready = state { state = .idle }
    }

    /// The server has less than it acknowledged on an earlier connection: continue from there, unless this
    /// connection has uploaded behind it.
    mutating func goBack(to acknowledged: UploadCursor) {
        guard !hasSent else { return }
        self = UploadTurn(cursor: acknowledged)
    }
}
