package import Changesets
package import Versions

/// The server's end of one connection: it reads the messages, keeps the sessions, and answers
/// messages about the connection itself (wire protocol, 1, 7 and 16). It owns no socket, store or
/// clock.
package struct ServerConnection: Sendable {
    /// Identifies one session permanently, while its ident may be reused for the next one.
    package struct SessionKey: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    package enum Effect: Hashable, Sendable {
        case send(ServerMessage)
        /// Carry out a step of the session in the store, after its earlier ones.
        case work(SessionKey, SessionStep)
        /// The session has ended; its resources can be released.
        case ended(SessionKey)
        /// An error of the connection was sent, or the message could not be answered: send nothing
        /// more, and close after a moment in which the client may do so.
        case close(CloseCode)
    }

    private let context: WireContext
    package let subProtocol: SubProtocol
    /// The mode of the app; clients of the other one are told (wire protocol, 8).
    private let appMode: SyncMode
    /// The answer to a BIND of a client of the other mode, by its path; nil: its connection ends.
    private let switchFault: (@Sendable (Text) -> SessionFault?)?
    /// Whether clients that must start over may keep their unsynced writes; for sessions from now
    /// on.
    package var allowsRecovery: Bool
    private var sessions: [SessionKey: ServerSession] = [:]
    private var keys: [SessionIdent: SessionKey] = [:]
    private var nextNumber: UInt64 = 0
    private var isClosing = false

    /// Roughly the memory of the messages that wait for a result of the store.
    package private(set) var waitingSizeInBytes = 0

    /// The sessions of these messages.
    package var waitingSessions: [SessionKey] {
        sessions.filter { $0.value.waitingSizeInBytes > 0 }.keys.sorted { $0.number < $1.number }
    }

    /// Server versions that the slowest running session has not been sent yet.
    package var lagInVersions: UInt64 {
        sessions.values.map(\.lagInVersions).max() ?? 0
    }

    package init(
        subProtocol: SubProtocol,
        appMode: SyncMode = .partitionBased,
        limits: Limits = .server,
        allowsRecovery: Bool = true,
        switchFault: (@Sendable (Text) -> SessionFault?)? = nil
    ) {
        self.subProtocol = subProtocol
        self.appMode = appMode
        self.switchFault = switchFault
        self.context = WireContext(mode: subProtocol.mode, limits: limits)
        self.allowsRecovery = allowsRecovery
    }

    /// The messages to send before anything is received.
    ///
    /// - Parameter connectionID: names the connection in the server's log.
    package mutating func opened(connectionID: String) -> [Effect] {
        guard subProtocol.mode == appMode || maySwitch else { return refuseMode() }
        guard subProtocol.version >= Self.firstVersionWithLogMessages else { return [] }
        let body = LogMessageBody(connectionID: connectionID, level: .info, message: "connected")
        return [.send(.logMessage(nil, body))]
    }

    /// Clients of the other mode can be told to switch once they name their realm (flexible sync, 16.1).
    private var maySwitch: Bool {
        switchFault != nil && subProtocol.version >= Self.firstVersionThatSwitches
    }

    private mutating func refuseMode() -> [Effect] {
        switch appMode {
        case .partitionBased:
            fail(.switchToPartitionBasedSync, message: "this app uses partition-based sync")
        case .flexible:
            fail(.switchToFlexibleSync, message: "this app uses flexible sync")
        }
    }

    private static let firstVersionThatSwitches = 9
    private static let firstVersionWithLogMessages = 10
    private static let refusedSessionsFactor = 2

    /// Reports an error of the whole connection and closes it.
    package mutating func fail(_ fault: ConnectionFault, message: String) -> [Effect] {
        guard !isClosing else { return [] }
        isClosing = true
        return [
            .send(
                .jsonError(
                    JSONErrorReport(fault, message: message, allowsRecovery: allowsRecovery)
                )
            ),
            .close(.normal),
        ]
    }
}

// MARK: Client messages

extension ServerConnection {
    package mutating func received(_ bytes: [UInt8]) -> [Effect] {
        guard !isClosing else { return [] }
        do throws(WireError) {
            return received(try ClientMessage(decoding: bytes, context: context))
        } catch {
            switch error.serverReaction {
            case .report(let fault):
                return fail(fault, message: error.description)
            case .close(let code):
                isClosing = true
                return [.close(code)]
            }
        }
    }

    package mutating func received(_ message: ClientMessage) -> [Effect] {
        guard !isClosing else { return [] }
        switch message {
        case .ping(let ping):
            return [.send(.pong(timestampInMilliseconds: ping.timestampInMilliseconds))]
        case .bind(let bind):
            return received(bind)
        case .ident, .query, .upload, .mark, .unbind, .jsonError, .testCommand:
            guard let session = message.session, let key = keys[session] else {
                return fail(.badSessionIdent, message: "\(message.name) for an unknown session")
            }
            return update(key) { $0.received(message) }
        }
    }

    private mutating func received(_ bind: ClientMessage.Bind) -> [Effect] {
        guard keys[bind.session] == nil else {
            return fail(.reuseOfSessionIdent, message: "BIND for a session that is bound")
        }
        let key = SessionKey(number: nextNumber)
        nextNumber += 1
        keys[bind.session] = key
        sessions[key] = ServerSession(
            bind,
            subProtocol: subProtocol,
            allowsRecovery: allowsRecovery
        )
        let limits = context.limits
        // Refused sessions are kept until their UNBIND. A client that never sends any is hostile.
        guard sessions.count <= limits.sessionsPerConnection * Self.refusedSessionsFactor else {
            return fail(.otherError, message: "far too many sessions on this connection")
        }
        guard sessions.count <= limits.sessionsPerConnection else {
            return update(key) {
                $0.fail(.otherError, message: "too many sessions on this connection")
            }
        }
        guard subProtocol.mode == appMode else {
            guard let fault = switchFault?(bind.path) else { return refuseMode() }
            return update(key) { $0.fail(fault, message: "the app has switched its mode of sync") }
        }
        return update(key) { $0.begin(limits: limits) }
    }

    /// Changes one session, and translates its effects.
    private mutating func update(
        _ key: SessionKey,
        _ change: (inout ServerSession) -> [ServerSession.Effect]
    ) -> [Effect] {
        guard !isClosing, var session = sessions[key] else { return [] }
        let waitingBefore = session.waitingSizeInBytes
        let changes = change(&session)
        waitingSizeInBytes += session.waitingSizeInBytes - waitingBefore
        var effects: [Effect] = []
        for effect in changes {
            switch effect {
            case .send(let message):
                effects.append(.send(message))
            case .work(let step):
                effects.append(.work(key, step))
            case .failConnection(let fault, let message):
                return effects + fail(fault, message: message)
            }
        }
        guard session.isEnded else {
            sessions[key] = session
            return effects
        }
        sessions[key] = nil
        keys[session.ident] = nil
        return effects + [.ended(key)]
    }
}

// MARK: Store results

/// The results for `ServerSession`; those for sessions that have ended meanwhile change nothing.
extension ServerConnection {
    package mutating func opened(_ key: SessionKey, assigned file: SaltedFileIdent?) -> [Effect] {
        update(key) { $0.opened(assigned: file) }
    }

    package mutating func identified(
        _ key: SessionKey,
        upload: UploadCursor,
        locked: ServerVersion,
        needsBootstrap: Bool = false
    ) -> [Effect] {
        update(key) {
            $0.identified(upload: upload, locked: locked, needsBootstrap: needsBootstrap)
        }
    }

    /// The position from which a subscription step must send; nil if the session has ended.
    package mutating func beginSubscription(_ key: SessionKey) -> DownloadCursor? {
        sessions[key]?.beginSubscription()
    }

    package mutating func bootstrapped(
        _ key: SessionKey,
        _ part: ServerSession.BootstrapPart
    ) -> [Effect] {
        update(key) { $0.bootstrapped(part) }
    }

    package mutating func refused(
        _ key: SessionKey,
        _ version: QueryVersion,
        message: String
    ) -> [Effect] {
        update(key) { $0.refused(version, message: message) }
    }

    package mutating func scanned(_ key: SessionKey, _ scanned: ServerSession.Scanned) -> [Effect] {
        update(key) { $0.scanned(scanned) }
    }

    /// Whether the session's scan under way answers a MARK.
    package func coversMark(_ key: SessionKey) -> Bool {
        sessions[key]?.coversMark ?? false
    }

    package mutating func historyGrew(_ key: SessionKey, to version: ServerVersion) -> [Effect] {
        update(key) { $0.historyGrew(to: version) }
    }

    package mutating func fail(
        _ key: SessionKey,
        _ fault: SessionFault,
        message: String,
        backoff: JSONErrorBody.Backoff? = nil
    ) -> [Effect] {
        update(key) { $0.fail(fault, message: message, backoff: backoff) }
    }
}
