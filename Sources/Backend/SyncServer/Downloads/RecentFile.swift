import Coordination
import ServerStore
import Synchronization
import Versions

/// The recent history of one file, read by one session at a time for all of them.
final class RecentFile: Sendable {
    private struct State {
        var history: RecentHistory?
        /// The newest version that was announced.
        var wanted = ServerVersion.zero
        var load: Promise<Void>?
    }

    private enum Turn {
        case ready(RecentHistory)
        /// Another session is reading.
        case wait(Promise<Void>)
        /// To read after a version, and then to tell the others.
        case load(after: SaltedServerVersion, Promise<Void>)
    }

    private let state = Mutex(State())

    var sizeInBytes: Int { state.withLock { $0.history?.sizeInBytes ?? 0 } }

    /// The file has grown to a version.
    func note(_ version: ServerVersion) {
        state.withLock { $0.wanted = max($0.wanted, version) }
    }

    /// The history with everything that was announced before; nil if the sessions must ask the store.
    ///
    /// - Parameters:
    ///   - told: the newest version that the session knows.
    ///   - read: what the store has after a version; nil if there is no such file.
    func history(
        after told: SaltedServerVersion,
        reading read: (SaltedServerVersion) async throws -> RecentHistory.Growth?
    ) async throws -> RecentHistory? {
        // What is read after the first wait was begun after this call: it has everything.
        for _ in 0..<2 {
            switch turn(after: told) {
            case .ready(let history): return history
            case .wait(let load): await load.value
            case .load(let start, let load):
                defer { load.keep() }
                do {
                    return finish(try await read(start), after: start)
                } catch {
                    _ = finish(nil, after: start)
                    throw error
                }
            }
        }
        return state.withLock(\.history)
    }

    private func turn(after told: SaltedServerVersion) -> Turn {
        state.withLock { state in
            if let history = state.history, history.end.version >= state.wanted {
                return .ready(history)
            }
            if let load = state.load { return .wait(load) }
            let load = Promise<Void>()
            state.load = load
            return .load(after: state.history?.end ?? told, load)
        }
    }

    private func finish(
        _ growth: RecentHistory.Growth?,
        after start: SaltedServerVersion
    ) -> RecentHistory? {
        state.withLock { state in
            state.load = nil
            if var known = state.history.take(), let growth {
                state.history = known.extend(growth) ? known : nil
            } else {
                state.history = growth.flatMap { RecentHistory(after: start, $0) }
            }
            // A store that went back may never have what was announced.
            if state.history == nil { state.wanted = .zero }
            return state.history
        }
    }
}
