import Versions

extension ClientSession {
    /// Where a session is between its connection and its end; the table at `ClientSession` says what
    /// happens in each state.
    enum State: Sendable {
        case offline
        case unbound
        case awaitingIdent
        case identifying
        case running(Running)
        /// `report`: what the server has to hear of the failure, until it is sent.
        case stalled(report: IntegrationFailure?)
        case refused(then: Sequel)
        case suspended(Resumption, isConnected: Bool)
        case leaving
        case unbinding
        case ended
    }

    /// What follows the UNBIND that answers an error.
    enum Sequel: Sendable {
        case suspension(Resumption)
        /// The session was resumed before UNBIND was sent.
        case bind
        /// The session was deactivated.
        case end
    }

    /// How long a suspension lasts if `resume` does not end it before.
    enum Resumption: Sendable {
        /// Until `resume`.
        case unlimited
        /// The server only closed the session, and expects it back.
        case short
        /// As the back-off says.
        case backOff
    }
}

// MARK: Moves that no message makes

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
        // Nothing of the session is at the server.
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
    /// The state once nothing of the session is at the server.
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
