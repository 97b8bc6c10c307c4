import ServerStore

/// Finds what administrators changed at other processes, by comparing this process's connections
/// with the records (server on PostgreSQL, 6.3).
///
/// Notices may be lost; differences are not. There is no log of events.
struct ControlReview: Sendable {
    /// The apps at the last review; nil before the first.
    private var apps: [AppID: ControlRecords.App]?
    /// Apps with an order that this process has already carried out since then.
    private var heard: Set<AppID> = []

    /// An order for an app's connections, which need not be repeated when the record is found changed.
    mutating func note(_ message: BackplaneMessage) {
        if case .control(.app(let app), _) = message { heard.insert(app) }
    }

    /// The messages that this process missed.
    mutating func messages(
        for presence: ConnectionPresence,
        _ records: ControlRecords
    ) -> [BackplaneMessage] {
        defer {
            apps = records.apps
            heard = []
        }
        return appMessages(presence, records) + Self.memberMessages(presence, records)
    }

    private func appMessages(
        _ presence: ConnectionPresence,
        _ records: ControlRecords
    ) -> [BackplaneMessage] {
        guard let apps else { return [] }
        let all = Set(apps.keys).union(records.apps.keys).sorted { $0.rawValue < $1.rawValue }
        return all.flatMap { app -> [BackplaneMessage] in
            let (old, new) = (apps[app], records.apps[app])
            let connections = presence.counts[app]?.connections ?? 0
            var messages: [BackplaneMessage] = old == new ? [] : [.changed(app)]
            if new?.isEnabled != true {
                if connections > 0 { messages.append(.control(.app(app), .pause)) }
            } else if old != new, connections > 0, !heard.contains(app) {
                messages.append(.control(.app(app), .rebind))
            }
            return messages
        }
    }

    private static func memberMessages(
        _ presence: ConnectionPresence,
        _ records: ControlRecords
    ) -> [BackplaneMessage] {
        let users = presence.users.subtracting(records.users).map { user in
            let isDisabled = records.disabledUsers.contains(user)
            let reason = isDisabled ? "user disabled" : "user deleted"
            return BackplaneMessage.control(.user(user.id, of: user.app), .leave(reason: reason))
        }
        let sessions = presence.loginSessions.subtracting(records.loginSessions).map { session in
            BackplaneMessage.control(
                .session(session.id, of: session.app),
                .leave(reason: "session revoked")
            )
        }
        let clients = presence.clients.compactMap { client, epoch -> BackplaneMessage? in
            guard let known = records.clients[client] else {
                return .control(.client(client), .rebind)
            }
            return known == epoch ? nil : .takeover(of: client, epoch: known)
        }
        return users + sessions + clients
    }
}
