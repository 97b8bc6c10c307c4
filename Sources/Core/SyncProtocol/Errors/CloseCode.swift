/// A WebSocket close code (wire protocol, 2.7).
package struct CloseCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let normal = CloseCode(rawValue: 1000)
    package static let goingAway = CloseCode(rawValue: 1001)
    package static let protocolError = CloseCode(rawValue: 1002)
    package static let unsupportedData = CloseCode(rawValue: 1003)
    /// A close frame without a code.
    package static let noStatus = CloseCode(rawValue: 1005)
    /// Never on the wire: some platforms' sockets report a broken connection with it.
    package static let abnormal = CloseCode(rawValue: 1006)
    package static let policyViolation = CloseCode(rawValue: 1008)
    package static let messageTooBig = CloseCode(rawValue: 1009)
    package static let internalError = CloseCode(rawValue: 1011)
    package static let tlsFailure = CloseCode(rawValue: 1015)
    /// The client refreshes its token and reconnects at once, unnoticed by the application.
    package static let unauthorized = CloseCode(rawValue: 4001)
    /// The client logs the user out.
    package static let forbidden = CloseCode(rawValue: 4002)
    /// The client requests the location again.
    package static let movedPermanently = CloseCode(rawValue: 4003)
}
