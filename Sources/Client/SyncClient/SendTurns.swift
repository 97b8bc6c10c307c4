import SyncProtocol
import Synchronization

/// The sessions of a connection that may have something to send, in the order in which they asked for a turn.
///
/// Only they are asked for a message: among thousands of realms, asking all of them for each message takes
/// minutes until all are bound.
final class SendTurns: Sendable {
    private struct State {
        var order: [SessionIdent] = []
        var members: Set<SessionIdent> = []
    }

    private let state = Mutex(State())

    /// Asks for a turn; once is enough.
    func add(_ session: SessionIdent) {
        state.withLock { state in
            if state.members.insert(session).inserted { state.order.append(session) }
        }
    }

    /// The sessions whose turn it is; each may ask for another one from now on.
    func takeAll() -> [SessionIdent] {
        state.withLock { state in
            defer { state = State() }
            return state.order
        }
    }
}
