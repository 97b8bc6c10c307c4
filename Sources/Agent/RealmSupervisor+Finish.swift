import Config
import Logging
import SyncClient

/// The orderly end of a realm's sync (features, S7).
extension RealmSupervisor {
    /// Uploads what is written, as far as the time for it goes, and takes leave of the server.
    func finish() async {
        guard case .running(let client) = stage, !Task.isCancelled else { return }
        let timeout = configuration.shutdownUploadTimeout
        if isAllowed, await client.snapshot().phase == .bound, await client.hasPendingUploads() {
            let outcome = await client.wait(for: [.upload], timeout: timeout, time)
            if outcome != .done {
                logger.warning(
                    "stopping with writes that the server does not have",
                    metadata: ["outcome": "\(outcome)"]
                )
            }
        }
        stopFollowing()
        await connection.leave(client)
        await connection.flush(atMost: .seconds(1))
    }
}
