/// The lifetimes of tokens, in seconds (app services, 10.2).
package struct TokenLifetimes: Hashable, Sendable {
    package var access: Int64
    package var refresh: Int64
    /// Of the tokens that confirm accounts and reset passwords.
    package var reset: Int64

    package init(access: Int64 = 1800, refresh: Int64 = 5_184_000, reset: Int64 = 1800) {
        self.access = access
        self.refresh = refresh
        self.reset = reset
    }

    package static let refreshRange: ClosedRange<Int64> = 1800...157_680_000

    /// The tolerance for clocks and delays before an expired token is refused.
    package static let leeway: Int64 = 60
}
