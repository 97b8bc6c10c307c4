/// The number of a subscription set of flexible sync; 0 is the empty set that every file starts with
/// (flexible sync, 1).
public struct QueryVersion: Hashable, Sendable, Comparable {
    /// 0 ... 2^63 - 1.
    public let rawValue: UInt64

    public init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let zero = QueryVersion(0)

    public static func < (left: QueryVersion, right: QueryVersion) -> Bool {
        left.rawValue < right.rawValue
    }
}
