/// A client's reaction to the failure or end of its connection (wire protocol, 2.5 and 2.7).
package struct ConnectionReaction: Hashable, Sendable {
    /// Separates one reason to be disconnected from another, for the back-off.
    package let reason: DisconnectReason
    package let status: SyncStatus
    /// Whether it is reported as a fatal error. Only `logOutUser` ends the session.
    package let isFatal: Bool
    package let action: ServerAction
    /// Whether it is reported to the application.
    package let isReported: Bool

    init(
        _ reason: DisconnectReason,
        _ status: SyncStatus,
        isFatal: Bool = false,
        action: ServerAction = .transient,
        isReported: Bool = true
    ) {
        self.reason = reason
        self.status = status
        self.isFatal = isFatal
        self.action = action
        self.isReported = isReported
    }

    /// Whether the next attempt follows the refresh at once, without back-off.
    package var reconnectsAfterRefresh: Bool {
        action == .refreshUser || action == .refreshLocation
    }
}

/// The reason why a connection ended; repeating it lengthens the delay (wire protocol, 10.1).
package enum DisconnectReason: Hashable, Sendable {
    case voluntary
    case connectFailed
    case connectTimedOut
    case tlsFailed
    case rejected(status: Int)
    case badSubProtocol
    case closed(CloseCode)
    case lost
    case pongTimedOut
    case protocolViolation
    case serverError(code: Int)
}

extension ConnectionReaction {
    /// The server answered the upgrade with something other than 101.
    ///
    /// - Parameter isEndpointVerified: whether the location was ever fetched, or a connection to
    ///   this endpoint was ever open; a wrong address is more likely than a broken server until
    ///   then.
    package static func httpStatus(_ status: Int, isEndpointVerified: Bool) -> ConnectionReaction {
        let reason = DisconnectReason.rejected(status: status)
        switch status {
        case 301, 308:
            return ConnectionReaction(reason, .connectionClosed, action: .refreshLocation)
        case 401:
            return ConnectionReaction(reason, .authError, action: .refreshUser)
        case 403:
            return ConnectionReaction(reason, .authError, isFatal: true, action: .logOutUser)
        case 300..<400, 500..<600:
            return ConnectionReaction(reason, .connectionClosed, isReported: false)
        default:
            return unusable(reason, isEndpointVerified: isEndpointVerified)
        }
    }

    /// The response to the upgrade was not HTTP, or had a wrong accept hash.
    package static func malformedAnswer(isEndpointVerified: Bool) -> ConnectionReaction {
        unusable(.protocolViolation, isEndpointVerified: isEndpointVerified)
    }

    /// The upgrade was accepted without a sub-protocol that we support.
    package static let badSubProtocol = ConnectionReaction(
        .badSubProtocol,
        .syncProtocolNegotiationFailed,
        isFatal: true,
        action: .protocolViolation
    )

    /// The name does not resolve, or nothing listens there.
    package static func connectFailed(isEndpointVerified: Bool) -> ConnectionReaction {
        ConnectionReaction(
            .connectFailed,
            .syncConnectFailed,
            action: isEndpointVerified ? .transient : .refreshLocation
        )
    }

    package static func connectTimedOut(isEndpointVerified: Bool) -> ConnectionReaction {
        ConnectionReaction(
            .connectTimedOut,
            .syncConnectTimeout,
            action: isEndpointVerified ? .transient : .refreshLocation
        )
    }

    package static let tlsFailed = ConnectionReaction(.tlsFailed, .tlsHandshakeFailed)

    /// An established connection ended without a close frame.
    package static let lost = ConnectionReaction(.lost, .connectionClosed, isReported: false)

    package static let pongTimedOut = ConnectionReaction(
        .pongTimedOut,
        .connectionClosed,
        isReported: false
    )

    /// The peer broke the protocol and we closed the connection.
    package static let protocolViolation = ConnectionReaction(
        .protocolViolation,
        .syncProtocolInvariantFailed,
        isFatal: true,
        action: .protocolViolation
    )

    /// The server sent a close frame.
    package static func closeCode(_ code: CloseCode) -> ConnectionReaction {
        let reason = DisconnectReason.closed(code)
        switch code {
        // It does not mean anything alone; the end of the connection that follows does.
        case .normal: return lost
        case .abnormal, .unauthorized:
            return ConnectionReaction(reason, .authError, action: .refreshUser)
        case .messageTooBig:
            return ConnectionReaction(reason, .limitExceeded, action: .clientReset)
        case .internalError:
            return ConnectionReaction(reason, .connectionClosed, isReported: false)
        case .tlsFailure:
            return ConnectionReaction(reason, .tlsHandshakeFailed)
        case .forbidden:
            return ConnectionReaction(reason, .authError, isFatal: true, action: .logOutUser)
        case .movedPermanently:
            return ConnectionReaction(reason, .connectionClosed, action: .refreshLocation)
        default:
            let isListed = 1001...1010 ~= code.rawValue
            return ConnectionReaction(
                isListed ? reason : .closed(.policyViolation),
                .syncProtocolInvariantFailed
            )
        }
    }

    /// The server's error of one session is about the user or the address, which belong to the
    /// connection.
    package static func sessionError(_ problem: ServerProblem) -> ConnectionReaction {
        ConnectionReaction(
            .serverError(code: problem.code),
            problem.status,
            isFatal: problem.action == .logOutUser,
            action: problem.action ?? .transient
        )
    }

    private static func unusable(
        _ reason: DisconnectReason,
        isEndpointVerified: Bool
    ) -> ConnectionReaction {
        ConnectionReaction(
            reason,
            .syncConnectFailed,
            isFatal: isEndpointVerified,
            action: isEndpointVerified ? .transient : .refreshLocation
        )
    }
}
