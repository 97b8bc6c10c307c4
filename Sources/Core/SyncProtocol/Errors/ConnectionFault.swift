/// A server's error about a whole connection, which then ends (wire protocol, 8).
package enum ConnectionFault: Int, Hashable, Sendable, CaseIterable {
    case connectionClosed = 100
    case otherError = 101
    case unknownMessage = 102
    case badSyntax = 103
    case wrongProtocolVersion = 105
    case badSessionIdent = 106
    case reuseOfSessionIdent = 107
    case boundInOtherSession = 108
    case badMessageOrder = 109
    case badDecompression = 110
    case badChangesetHeaderSyntax = 111
    case badChangesetSize = 112
    case switchToFlexibleSync = 113
    case switchToPartitionBasedSync = 114

    package var code: Int { rawValue }

    var action: ServerAction {
        switch self {
        case .connectionClosed, .otherError: .transient
        case .wrongProtocolVersion, .switchToFlexibleSync, .switchToPartitionBasedSync:
            .applicationBug
        case .unknownMessage, .badSyntax, .badSessionIdent, .reuseOfSessionIdent,
            .boundInOtherSession, .badMessageOrder, .badDecompression, .badChangesetHeaderSyntax,
            .badChangesetSize:
            .protocolViolation
        }
    }

    /// Whether the client reconnects automatically.
    var tryAgain: Bool { action == .transient }
}
