import Versions

extension ClientSession {
    /// The state of a session between its connection and its end; the table at `ClientSession`
    /// defines the transitions.
    enum State: Sendable {
        case offline
        case unbound
        case awaitingIdent
        case identifying
        case running(Running)
        /// `report`: the failure to report to the server, until it is sent.
        case stalled(report: IntegrationFailure?)
        case refused(then: Sequel)
        case suspended(Resumption, isConnected: Bool)
        case leaving
        case unbinding
        case ended
    }

    /// The action after the UNBIND that answers an error.
    enum Sequel: Sendable {
        case suspension(Resumption)
        /// The session was resumed before UNBIND was sent.
        case bind
        /// The session was deactivated.
        case end
    }

    /// The length of a suspension unless `resume` ends it before.
    enum Resumption: Sendable {
        /// Until `resume`.
        case unlimited
        /// The server only closed the session, and expects it back.
        case short
        /// By the back-off.
        case backOff
    }
}

// MARK: Transitions without a message

extension ClientSession.State {
    /// Nil if a new connection changes nothing.
    var afterConnecting: Self? {
        switch self {
        case .offline: .unbound
        case .suspended(let resumption, isConnected: false):
            .suspended(resumption, isConnected: true)
        case .suspended(_, isConnected: true), .unbound, .awaitingIdent, .identifying, .running,
            .stalled, .refused, .leaving, .unbinding, .ended:
            nil
        }
    }

    var afterDisconnecting: Self {
        switch self {
        case .offline, .unbound, .awaitingIdent, .identifying, .running, .stalled: .offline
        case .refused(let sequel): sequel.state(isConnected: false)
        case .suspended(let resumption, _): .suspended(resumption, isConnected: false)
        case .leaving, .unbinding, .ended: .ended
        }
    }

    var afterDeactivation: Self {
        switch self {
        // The server has no state of the session.
        case .offline, .unbound, .suspended, .ended: .ended
        case .awaitingIdent, .identifying, .running, .stalled, .leaving: .leaving
        case .refused: .refused(then: .end)
        case .unbinding: .unbinding
        }
    }

    var afterResumption: Self {
        switch self {
        case .refused(then: .suspension): .refused(then: .bind)
        case .suspended(_, let isConnected): isConnected ? .unbound : .offline
        case .refused(then: .bind), .refused(then: .end), .offline, .unbound, .awaitingIdent,
            .identifying, .running, .stalled, .leaving, .unbinding, .ended:
            self
        }
    }
}

extension ClientSession.Sequel {
    /// The state once the server has no state of the session.
    func state(isConnected: Bool) -> ClientSession.State {
        switch self {
        case .suspension(let resumption): .suspended(resumption, isConnected: isConnected)
        case .bind: isConnected ? .unbound : .offline
        case .end: .ended
        }
    }
}

// MARK: Questions about the state

extension ClientSession.State {
    var wantsConnection: Bool {
        switch self {
        case .offline, .unbound, .awaitingIdent, .identifying, .running, .stalled,
            .refused(then: .bind):
            true
        case .refused(then: .suspension), .refused(then: .end), .suspended, .leaving, .unbinding,
            .ended:
            false
        }
    }

    /// Nil if the session is not suspended.
    var resumption: ClientSession.Resumption? {
        switch self {
        case .refused(then: .suspension(let resumption)), .suspended(let resumption, _): resumption
        case .refused(then: .bind), .refused(then: .end), .offline, .unbound, .awaitingIdent,
            .identifying, .running, .stalled, .leaving, .unbinding, .ended:
            nil
        }
    }

    var isIdentified: Bool {
        switch self {
        case .running, .stalled: true
        case .offline, .unbound, .awaitingIdent, .identifying, .refused, .suspended, .leaving,
            .unbinding, .ended:
            false
        }
    }

    var isEnded: Bool {
        if case .ended = self { true } else { false }
    }
}
