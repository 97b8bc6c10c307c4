package import Versions

/// Connects the processes of one server: each hears of history, sessions and changes of accounts
/// that concern its connections (server on PostgreSQL, 6).
///
/// Each message reaches every participant, the sender's own included, in the order of its sender.
/// The sender does not wait, and a message may be lost: the store has the truth, and refuses what
/// is out of date.
package protocol Backplane: Sendable {
    /// Passes all messages to the participant from now on. It must not block.
    func join(_ participant: any BackplaneParticipant)

    /// Passes the participant no further message.
    func leave(_ participant: any BackplaneParticipant)

    /// A file's history has grown to a version: sessions of that file have more to download.
    func announce(_ version: ServerVersion, of file: ServerFileID)

    /// A session with this epoch begins: a session of the same client file with another one ends.
    func takeOver(_ client: ClientFileID, epoch: UInt64)

    /// Something about users, apps or rules has changed, and is stored: connections must act.
    func control(_ audience: ConnectionAudience, _ order: ConnectionOrder)

    /// An app's record in the store has changed, which orders no connection anything.
    func changed(_ app: AppID)

    /// The connections and sessions of an app in all processes; those of other processes as they
    /// were some seconds ago.
    func ask(_ app: AppID) async -> ConnectionCounts

    /// Hears of other processes until the task is cancelled.
    ///
    /// - Parameter follow: reads an app's record again, before its connections act on a change. Returns the
    ///   state of the app's sync; nil if the app is not served.
    func run(following follow: @escaping @Sendable (AppID) async -> SyncState?) async

    /// Does a job, unless another process does it now, or has done it within the interval.
    func perform(_ job: Job, every interval: Duration, _ body: @Sendable () async -> Void) async

    /// Whether history of the app may be removed: every process has recorded lately which clients it
    /// serves, and has the same configuration of the app.
    func mayTrim(_ app: AppID) async -> Bool

    /// Takes an attempt from the bucket that all processes share. If none is left, takes nothing and
    /// returns the milliseconds until the next; nil if the attempt may be made, also while the bucket
    /// is out of reach.
    func take(_ attempt: CountedAttempt) async -> Int64?

    /// Returns an attempt that does not count.
    func giveBack(_ attempt: CountedAttempt) async

    /// The reason why this process cannot serve now; nil while it can.
    var obstacle: String? { get }
}

/// One process of the server, as the others see it.
package protocol BackplaneParticipant: AnyObject, Sendable {
    func receive(_ message: BackplaneMessage)
    /// The connections and sessions of an app in this process.
    func counts(of app: AppID) -> ConnectionCounts
    /// All connections and sessions of this process.
    var presence: ConnectionPresence { get }
}

/// A message to all processes.
package enum BackplaneMessage: Hashable, Sendable {
    case growth(of: ServerFileID, to: ServerVersion)
    case takeover(of: ClientFileID, epoch: UInt64)
    case control(ConnectionAudience, ConnectionOrder)
    case changed(AppID)
}

/// Names a client file within the store.
package struct ClientFileID: Hashable, Sendable {
    package let file: ServerFileID
    package let ident: FileIdent

    package init(file: ServerFileID, ident: FileIdent) {
        self.file = file
        self.ident = ident
    }
}

/// The connections that an order is for.
package enum ConnectionAudience: Hashable, Sendable {
    case app(AppID)
    case user(UserID, of: AppID)
    /// Those that a log-in session has opened.
    case session(SessionDigest, of: AppID)
    /// The one with a session of this client file.
    case client(ClientFileID)
}

/// The step of a connection after a change of users, apps or rules.
package enum ConnectionOrder: Hashable, Sendable {
    /// The app's sync is paused (app services, 12.2).
    case pause
    /// Permissions have changed: clients bind again at once (wire protocol, 13.6).
    case rebind
    /// The user lost access. The client detects that when it refreshes its token, and logs the
    /// user out (app services, 7.4).
    case leave(reason: String)
}

/// Numbers of open connections and of their sessions.
package struct ConnectionCounts: Hashable, Sendable {
    package var connections: Int
    package var sessions: Int

    package init(connections: Int = 0, sessions: Int = 0) {
        self.connections = connections
        self.sessions = sessions
    }

    /// The sum, of two processes.
    package static func + (one: Self, other: Self) -> Self {
        Self(
            connections: one.connections + other.connections,
            sessions: one.sessions + other.sessions
        )
    }
}
