import LocalRealm

/// Progress of uploads and downloads.
extension RealmClient {
    /// Reports of one direction; the stream ends with the work in the mode that does, or with the
    /// realm. A slow reader gets the newest reports.
    package func progress(
        _ direction: TransferDirection,
        _ mode: ProgressNotifier.Mode
    ) async -> AsyncStream<TransferProgress> {
        // Include the writes made before this call.
        await capture()
        guard !isClosed else { return AsyncStream { $0.finish() } }
        return transfers.observe(direction, mode, status)
    }

    /// Reports the progress to the observers, if it is known and has changed.
    func reportTransfer() {
        guard hasDownloaded else { return }
        transfers.report(status, bootstrapEstimate: bootstrapEstimate)
    }
}
