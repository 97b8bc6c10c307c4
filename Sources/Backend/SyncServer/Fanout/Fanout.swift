import Coordination
import ServerStore
import Synchronization
import Versions

/// One session of a client file. The next one of the same file begins where its client is, not where this one
/// was: it may have lost what this one sent.
struct ViewSession: Hashable, Sendable {
    let file: ServerFileID
    let ident: FileIdent
    /// Larger than that of all earlier sessions of the client file.
    let epoch: UInt64
}

extension ViewSession {
    init(of client: ClientFile, in file: ServerFileID) {
        self.init(file: file, ident: client.ident, epoch: client.sessionEpoch)
    }
}

/// Reads the growth of each file of flexible sync once, and tells the sessions that it concerns.
///
/// While nothing runs it, every session of a file is told, and scans for itself.
final class Fanout: Sendable {
    private struct State {
        var files: [ServerFileID: FileFanout] = [:]
        /// The newest known version of files that grew.
        var grown: [ServerFileID: ServerVersion] = [:]
        var underWay: Set<ServerFileID> = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private let work = Signal()

    // MARK: Sessions

    /// A session has a view, and has scanned up to a position. Returns the version up to which there may
    /// be more for it already; nil if there is nothing.
    func attach(
        _ session: ViewSession,
        _ view: ClientView,
        at position: ServerVersion
    ) -> ServerVersion? {
        state.withLock { state in
            var file = state.files[session.file] ?? FileFanout(from: position)
            // In place: a copy would copy the index.
            state.files[session.file] = nil
            defer { state.files[session.file] = file }
            return file.attach(session, view, at: position) ? file.examined : nil
        }
    }

    /// Forgets a session, and earlier ones of its client file.
    func detach(_ session: ViewSession) {
        state.withLock { state in
            state.files[session.file]?.detach(session)
            if state.files[session.file]?.isEmpty == true { state.files[session.file] = nil }
        }
    }

    /// The position from which a session must scan that has scanned up to another one.
    func start(of session: ViewSession, from position: ServerVersion) -> ServerVersion {
        state.withLock { state in
            state.files[session.file]?.start(of: session, from: position) ?? position
        }
    }

    func scanned(_ session: ViewSession, upTo version: ServerVersion) {
        state.withLock { $0.files[session.file]?.scanned(session, upTo: version) }
    }

    // MARK: Growth

    /// Takes over to tell the sessions of a file; false if it does not know them.
    func takes(_ file: ServerFileID, grownTo version: ServerVersion) -> Bool {
        let isTaken = state.withLock { state in
            guard state.isRunning, state.files[file] != nil else { return false }
            state.grown[file] = max(state.grown[file] ?? .zero, version)
            return true
        }
        if isTaken { work.raise() }
        return isTaken
    }

    /// Tells sessions until the task is cancelled.
    ///
    /// - Parameters:
    ///   - read: the growth after a version; nil if the file does not exist any more.
    ///   - tell: tells one session of a file, or all, about a version.
    ///   - review: compares the rights of users with those that their sessions began with.
    func run(
        reading read: @escaping @Sendable (ServerFileID, ServerVersion) async throws -> FileGrowth?,
        telling tell: @escaping @Sendable (ServerFileID, FileIdent?, ServerVersion) -> Void,
        reviewing review: @escaping @Sendable (ServerFileID, FileGrowth.Users) -> Void
    ) async {
        state.withLock { $0.isRunning = true }
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                for file in takeFiles() {
                    group.addTask { await self.handle(file, read, tell, review) }
                }
                await work.wait()
            }
            group.cancelAll()
        }
        let left = state.withLock { state in
            state.isRunning = false
            defer { state.grown = [:] }
            return state.grown
        }
        for (file, version) in left { tell(file, nil, version) }
    }

    /// Those that grew and that no task is at, by id.
    private func takeFiles() -> [ServerFileID] {
        state.withLock { state in
            let files = state.grown.keys.filter { !state.underWay.contains($0) }
            state.underWay.formUnion(files)
            return files.sorted { $0.rawValue < $1.rawValue }
        }
    }

    private func handle(
        _ file: ServerFileID,
        _ read: @Sendable (ServerFileID, ServerVersion) async throws -> FileGrowth?,
        _ tell: @Sendable (ServerFileID, FileIdent?, ServerVersion) -> Void,
        _ review: @Sendable (ServerFileID, FileGrowth.Users) -> Void
    ) async {
        while let (version, examined) = takeGrowth(of: file) {
            guard let examined, examined < version else { continue }
            let growth: FileGrowth?
            do {
                growth = try await read(file, examined)
            } catch {
                growth = nil
            }
            // Otherwise each session tries for itself, and reports what is wrong.
            let known = growth ?? FileGrowth(end: version, content: .anything)
            if known.reviewed != .some([]) { review(file, known.reviewed) }
            for client in note(known, of: file) { tell(file, client, known.end) }
        }
    }

    /// The growth of a file that is not handled yet; nil, and its task must end, if there is none.
    private func takeGrowth(
        of file: ServerFileID
    ) -> (version: ServerVersion, examined: ServerVersion?)? {
        state.withLock { state in
            guard let version = state.grown.removeValue(forKey: file) else {
                state.underWay.remove(file)
                return nil
            }
            return (version, state.files[file]?.examined)
        }
    }

    private func note(_ growth: FileGrowth, of file: ServerFileID) -> [FileIdent] {
        state.withLock { $0.files[file]?.note(growth) ?? [] }
    }
}
