import SyncProtocol
import Synchronization
import Versions

/// The connections bound to each file in this process. Announces new history to them, and gives a
/// client file only one session.
package final class SessionRegistry: Sendable {
    /// One client file of one server file.
    struct Member: Hashable {
        let file: ServerFileID
        let ident: FileIdent
    }

    fileprivate struct Arrival {
        let number: Int
        let connection: SyncConnection
    }

    fileprivate struct State {
        var connections: [ObjectIdentifier: Arrival] = [:]
        var arrivalCount = 0
        var holders: [Member: SyncConnection] = [:]
        /// The number of sessions of a connection bound to a file.
        var audience: [ServerFileID: [ObjectIdentifier: Int]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    func add(_ connection: SyncConnection) {
        state.withLock { state in
            state.arrivalCount += 1
            let arrival = Arrival(number: state.arrivalCount, connection: connection)
            state.connections[ObjectIdentifier(connection)] = arrival
        }
    }

    func remove(_ connection: SyncConnection) {
        state.withLock { $0.connections[ObjectIdentifier(connection)] = nil }
    }

    var connections: [SyncConnection] {
        state.withLock { Array($0.connections.values) }.inOrder
    }

    /// Makes the connection the holder of a client file; returns the previous holder.
    func attach(_ member: Member, to connection: SyncConnection) -> SyncConnection? {
        state.withLock { state in
            let previous = state.holders[member]
            if let previous { state.leave(member.file, previous) }
            state.holders[member] = connection
            state.audience[member.file, default: [:]][ObjectIdentifier(connection), default: 0] += 1
            return previous
        }
    }

    /// Releases a client file, unless another connection holds it.
    func detach(_ member: Member, from connection: SyncConnection) {
        state.withLock { state in
            guard state.holders[member] === connection else { return }
            state.holders[member] = nil
            state.leave(member.file, connection)
        }
    }

    /// Sends a request to the connections of an app, or of one of its users.
    func ask(_ app: AppID, _ user: UserID? = nil, to request: SyncConnection.Request) {
        for connection in connections
        where connection.user.app == app && (user == nil || connection.user.id == user) {
            connection.ask(to: request)
        }
    }

    /// Sends a request to the connections of a log-in session.
    func ask(_ app: AppID, _ session: SessionDigest, to request: SyncConnection.Request) {
        for connection in connections
        where connection.user.app == app && connection.user.session == session {
            connection.ask(to: request)
        }
    }

    /// Sends a request to the holder of a client file, if there is one.
    func ask(_ member: Member, to request: SyncConnection.Request) {
        state.withLock { $0.holders[member] }?.ask(to: request)
    }

    /// The client files that have a session right now.
    var members: [Member] {
        state.withLock { Array($0.holders.keys) }
    }

    /// The number of connections and sessions of the app.
    func count(of app: AppID) -> (connections: Int, sessions: Int) {
        state.withLock { state in
            (
                state.connections.values.count { $0.connection.user.app == app },
                state.holders.values.count { $0.user.app == app }
            )
        }
    }

    /// Tells all connections bound to the file that there is more to download.
    func announce(_ version: ServerVersion, of file: ServerFileID) {
        let audience = state.withLock { state in
            (state.audience[file] ?? [:]).keys.compactMap { state.connections[$0] }
        }
        for connection in audience.inOrder {
            connection.noteGrowth(of: file, to: version)
        }
    }
}

extension SessionRegistry.State {
    fileprivate mutating func leave(_ file: ServerFileID, _ connection: SyncConnection) {
        let id = ObjectIdentifier(connection)
        let count = (audience[file]?[id] ?? 0) - 1
        audience[file]?[id] = count > 0 ? count : nil
        if audience[file]?.isEmpty == true { audience[file] = nil }
    }
}

extension [SessionRegistry.Arrival] {
    /// In order of arrival; the order of a dictionary differs in each run.
    fileprivate var inOrder: [SyncConnection] {
        sorted { $0.number < $1.number }.map(\.connection)
    }
}
