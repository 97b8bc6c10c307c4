import ServerStore
import Versions

extension AccountToken {
    static let lifetimeInMilliseconds: Int64 = 30 * 60 * 1000

    func isGood(_ token: String, at now: Int64) -> Bool {
        token == self.token && now.subtracting(clamping: createdAt) <= Self.lifetimeInMilliseconds
    }
}
