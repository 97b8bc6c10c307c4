import Platform
import Scheduling

/// `export-unsynced`: exports unacknowledged changes as JSON lines.
struct ExportHandler: RealmHandler {
    let directory: String
    let files: any RealmFiles
    let now: @Sendable () -> WallTime

    func handle(_ request: HandlerRequest) async throws(HandlerFailure) -> HandlerReply {
        let destination = "\(directory)/\(request.subject.realm)-\(now().compactText).jsonl"
        do throws(RealmFilesFailure) {
            let count = try await files.exportUnsynced(
                realmAt: request.subject.path,
                to: destination
            )
            let note = count == 0 ? "nothing is unsynced" : "\(count) lines in \(destination)"
            return HandlerReply(.continue, note: note)
        } catch {
            throw .storage(error.reason)
        }
    }
}
