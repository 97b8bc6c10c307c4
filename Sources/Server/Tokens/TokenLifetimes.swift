/// How long tokens are good for, in seconds (app services, 10.2).
package struct TokenLifetimes: Hashable, Sendable {
    package var access: Int64
    package var refresh: Int64

    package init(access: Int64 = 1800, refresh: Int64 = 5_184_000) {
        self.access = access
        self.refresh = refresh
    }

    package static let refreshRange: ClosedRange<Int64> = 1800...157_680_000

    /// What a clock may be off, and a client may be late, before an expired token is refused.
    static let leeway: Int64 = 60
}
