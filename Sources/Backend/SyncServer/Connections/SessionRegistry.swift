import ServerStore
import SyncProtocol
import Synchronization
import Versions

/// The connections bound to each file in this process, which it passes the messages of the backplane
/// to. Gives a client file only one session.
final class SessionRegistry: Sendable {
    /// The connection that serves a client file, and the epoch of its session.
    fileprivate struct Holder {
        let connection: SyncConnection
        let epoch: UInt64
    }

    fileprivate struct Arrival {
        let number: Int
        let connection: SyncConnection
    }

    fileprivate struct State {
        var connections: [ObjectIdentifier: Arrival] = [:]
        var arrivalCount = 0
        /// Connections that arrive now must leave again.
        var isStopping = false
        var holders: [ClientFileID: Holder] = [:]
        /// The number of sessions of a connection bound to a file.
        var audience: [ServerFileID: [ObjectIdentifier: Int]] = [:]
    }

    /// The views of the sessions of flexible sync.
    let fanout = Fanout()
    let recent = RecentHistories()
    private let state = Mutex(State())

    /// False if the server stops.
    func add(_ connection: SyncConnection) -> Bool {
        state.withLock { state in
            state.arrivalCount += 1
            let arrival = Arrival(number: state.arrivalCount, connection: connection)
            state.connections[ObjectIdentifier(connection)] = arrival
            return !state.isStopping
        }
    }

    /// The connections that must leave; later ones learn it when they are added.
    func stop() -> [SyncConnection] {
        state.withLock { $0.isStopping = true }
        return connections
    }

    func remove(_ connection: SyncConnection) {
        state.withLock { $0.connections[ObjectIdentifier(connection)] = nil }
    }

    var connections: [SyncConnection] {
        state.withLock { Array($0.connections.values) }.inOrder
    }

    /// Makes the connection the holder of a client file; returns the previous holder.
    func attach(
        _ client: ClientFileID,
        epoch: UInt64,
        to connection: SyncConnection
    ) -> SyncConnection? {
        state.withLock { state in
            let previous = state.holders[client]?.connection
            if let previous { state.leave(client.file, previous) }
            state.holders[client] = Holder(connection: connection, epoch: epoch)
            state.audience[client.file, default: [:]][ObjectIdentifier(connection), default: 0] += 1
            return previous
        }
    }

    /// Tells one session of a file, or all, that the history has grown.
    func tell(_ file: ServerFileID, only ident: FileIdent? = nil, about version: ServerVersion) {
        guard let ident else {
            for connection in audience(of: file) { connection.noteGrowth(of: file, to: version) }
            return
        }
        let client = ClientFileID(file: file, ident: ident)
        let holder = state.withLock { $0.holders[client] }
        holder?.connection.noteGrowth(of: file, only: ident, to: version)
    }

    /// Compares the rights of a file's users with those that their sessions began with.
    func review(_ users: FileGrowth.Users, in file: ServerFileID) {
        for connection in audience(of: file) {
            switch users {
            case .all: connection.reviewRights()
            case .some(let users) where users.contains(connection.user.id):
                connection.reviewRights()
            case .some: break
            }
        }
    }

    /// Releases a client file, unless another connection holds it.
    func detach(_ session: ViewSession, from connection: SyncConnection) {
        fanout.detach(session)
        let client = ClientFileID(file: session.file, ident: session.ident)
        state.withLock { state in
            guard state.holders[client]?.connection === connection else { return }
            state.holders[client] = nil
            state.leave(client.file, connection)
            if state.audience[client.file] == nil { recent.forget(client.file) }
        }
    }

    /// Whether more than one connection is bound to a file.
    func hasSeveralSessions(of file: ServerFileID) -> Bool {
        state.withLock { $0.audience[file]?.count ?? 0 > 1 }
    }

    /// The connection of each session.
    var connectionsOfSessions: [SyncConnection] {
        state.withLock { $0.holders.values.map(\.connection) }
    }

    /// The client files that have a session right now.
    var members: [ClientFileID] {
        state.withLock { Array($0.holders.keys) }
    }
}

// MARK: Messages of the backplane

extension SessionRegistry: BackplaneParticipant {
    func receive(_ message: BackplaneMessage) {
        switch message {
        case .growth(let file, let version):
            recent.note(version, of: file)
            if !fanout.takes(file, grownTo: version) { tell(file, about: version) }
        case .takeover(let client, let epoch):
            let holder = state.withLock { $0.holders[client] }
            if let holder, holder.epoch != epoch { holder.connection.ask(to: .yield) }
        case .control(let audience, let order):
            for connection in connections(in: audience) { connection.ask(to: .obey(order)) }
        case .changed: break
        }
    }

    func counts(of app: AppID) -> ConnectionCounts {
        state.withLock { state in
            ConnectionCounts(
                connections: state.connections.values.count { $0.connection.user.app == app },
                sessions: state.holders.values.count { $0.connection.user.app == app }
            )
        }
    }

    var presence: ConnectionPresence {
        state.withLock { state in
            var presence = ConnectionPresence(clients: state.holders.mapValues(\.epoch))
            for arrival in state.connections.values {
                let user = arrival.connection.user
                presence.counts[user.app, default: ConnectionCounts()].connections += 1
                presence.users.insert(AppMember(user.id, of: user.app))
                guard let session = user.session else { continue }
                presence.loginSessions.insert(AppMember(session, of: user.app))
            }
            for holder in state.holders.values {
                let app = holder.connection.user.app
                presence.counts[app, default: ConnectionCounts()].sessions += 1
            }
            return presence
        }
    }

    /// The connections bound to a file.
    private func audience(of file: ServerFileID) -> [SyncConnection] {
        state.withLock { state in
            (state.audience[file] ?? [:]).keys.compactMap { state.connections[$0] }
        }.inOrder
    }

    private func connections(in audience: ConnectionAudience) -> [SyncConnection] {
        switch audience {
        case .app(let app): connections.filter { $0.user.app == app }
        case .user(let user, let app):
            connections.filter { $0.user.app == app && $0.user.id == user }
        case .session(let session, let app):
            connections.filter { $0.user.app == app && $0.user.session == session }
        case .client(let client):
            state.withLock { $0.holders[client] }.map { [$0.connection] } ?? []
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
