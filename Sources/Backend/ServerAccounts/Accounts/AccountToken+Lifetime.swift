import ServerStore
import Versions

extension AccountToken {
    /// - Parameter lifetime: in seconds.
    func isGood(_ token: String, at now: Int64, lifetime: Int64) -> Bool {
        token == self.token && now.subtracting(clamping: createdAt) <= lifetime * 1000
    }
}
