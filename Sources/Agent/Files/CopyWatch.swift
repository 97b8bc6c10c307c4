import Control
import LocalRealm

/// Reports how large an unfinished copy is, until it is finished.
struct CopyWatch: Sendable {
    let source: String
    let destination: String
    let note: @Sendable (CopyProgress) -> Void

    private static let interval = Duration.milliseconds(500)

    /// Runs the body, which makes the copy.
    func during<Outcome: Sendable>(_ body: () async -> Outcome) async -> Outcome {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    note(progress)
                    try? await Task.sleep(for: Self.interval)
                }
            }
            let outcome = await body()
            group.cancelAll()
            return outcome
        }
    }

    private var progress: CopyProgress {
        let sizes = RealmCopy.sizes(from: source, to: destination)
        return CopyProgress(writtenBytes: sizes.copyInBytes, sourceBytes: sizes.sourceInBytes)
    }
}
