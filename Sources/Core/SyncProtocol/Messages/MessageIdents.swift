/// The number of one session on its connection, 1 ... 2^63 - 1 (wire protocol, 3).
///
/// The wire's 0, which means the connection itself in error and log messages, is `nil` here, so
/// that no message about a session can be sent without one.
package struct SessionIdent: Hashable, Sendable {
    package let rawValue: UInt64

    /// Nil for 0 and above 2^63 - 1.
    package init?(_ rawValue: UInt64) {
        guard 1...WireRange.maximum ~= rawValue else { return nil }
        self.rawValue = rawValue
    }

    private init(unchecked rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let first = SessionIdent(unchecked: 1)

    /// The number of the next session.
    package var next: SessionIdent {
        SessionIdent(unchecked: rawValue == WireRange.maximum ? 1 : rawValue + 1)
    }
}

extension SessionIdent: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: UInt64) {
        precondition(1...WireRange.maximum ~= value, "a session ident is 1 ... 2^63 - 1")
        self.init(unchecked: value)
    }
}

/// The number of a MARK or a TEST_COMMAND, to match its answer; 0 is "none yet".
package struct RequestIdent: Hashable, Sendable, Comparable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let none = RequestIdent(0)

    package var next: RequestIdent { RequestIdent(rawValue + 1) }

    package static func < (left: RequestIdent, right: RequestIdent) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The ranges that the protocol fixes for its numbers (wire protocol, 3).
enum WireRange {
    static let maximum = UInt64(Int64.max)
    static let any = 0...maximum
    static let positive = 1...maximum
    static let request = 1...(maximum + 1)
}
