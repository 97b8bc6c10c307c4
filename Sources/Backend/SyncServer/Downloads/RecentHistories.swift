import ServerStore
import Synchronization
import Versions

/// The recent histories of files that have several sessions in this process.
final class RecentHistories: Sendable {
    private struct State {
        var files: [ServerFileID: RecentFile] = [:]
        var sizes: [ServerFileID: Int] = [:]
        var sizeInBytes = 0
    }

    private let state = Mutex(State())
    private let limitInBytes: Int

    /// - Parameter limitInBytes: of all files together; above it, all are read again.
    init(limitInBytes: Int = 64 << 20) {
        self.limitInBytes = limitInBytes
    }

    var sizeInBytes: Int { state.withLock(\.sizeInBytes) }

    /// The file has grown to a version.
    func note(_ version: ServerVersion, of file: ServerFileID) {
        state.withLock { $0.files[file] }?.note(version)
    }

    /// The file has no session any more.
    func forget(_ file: ServerFileID) {
        state.withLock { state in
            state.files[file] = nil
            state.sizeInBytes -= state.sizes.removeValue(forKey: file) ?? 0
        }
    }

    /// As ``RecentFile/history(after:reading:)``.
    func history(
        of file: ServerFileID,
        after told: SaltedServerVersion,
        reading read: (SaltedServerVersion) async throws -> RecentHistory.Growth?
    ) async throws -> RecentHistory? {
        let recent = state.withLock { state in
            let recent = state.files[file] ?? RecentFile()
            state.files[file] = recent
            return recent
        }
        let history = try await recent.history(after: told, reading: read)
        count(history?.sizeInBytes ?? 0, of: file, recent)
        return history
    }

    private func count(_ size: Int, of file: ServerFileID, _ recent: RecentFile) {
        state.withLock { state in
            guard state.files[file] === recent else { return }
            state.sizeInBytes += size - (state.sizes.updateValue(size, forKey: file) ?? 0)
            if state.sizeInBytes > limitInBytes { state = State() }
        }
    }
}
