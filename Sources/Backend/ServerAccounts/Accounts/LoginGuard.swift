import ServerStore
import Surroundings

/// Counts failed log-ins, by address and by name at that address (app services, 14).
///
/// A name alone has no bucket: an attacker who knows it could lock its owner out. Wrong attempts of
/// other users at the same address, such as that of a site, must not refuse a right one. So a name
/// that has logged in from there before is counted separately, and so is a device that has logged
/// in as the user before.
actor LoginGuard {
    fileprivate typealias Key = AttemptLimiter.Key

    private var byAddress = AttemptLimiter(burst: 100, refillInterval: 600)
    private var byName = AttemptLimiter(burst: 10, refillInterval: 6000)
    /// Secrets too long to be guessed are checked first, which costs almost nothing: only wrong
    /// ones count.
    private var wrongTokensByAddress = AttemptLimiter(burst: 100, refillInterval: 600)
    /// Mails and decisions for one account, from any address: limits those that its owner gets.
    private var byAccount = AttemptLimiter(burst: 5, refillInterval: 60_000)
    /// Each is a row of the store: limits the rows that one address can create.
    private var newUsersByAddress = AttemptLimiter(burst: 1000, refillInterval: 3600)
    /// Each reads a realm: limits the work that one user can cause.
    private var comparisonsByUser: AttemptLimiter
    private var acquaintances = Acquaintances()
    private let clock: WallClock

    /// A secret that could be guessed, before it is checked.
    struct Attempt: Sendable {
        let address: String
        /// A name, or a digest of a payload.
        let name: String
        /// The device, if the claimed user has logged in from it before.
        var knownDevice: String?

        fileprivate var key: Key {
            if let knownDevice { return Key("device", knownDevice, name) }
            return Key("address", address, name)
        }
    }

    /// An admitted attempt, and the buckets that it has taken from.
    struct Admission: Sendable {
        fileprivate let name: AttemptLimiter.Key
        fileprivate let address: AttemptLimiter.Key?
    }

    init(clock: WallClock, comparisonsPerMinute: Int) {
        self.clock = clock
        self.comparisonsByUser = AttemptLimiter(
            burst: comparisonsPerMinute,
            refillInterval: max(1, 60_000 / Int64(comparisonsPerMinute))
        )
    }

    /// Admits a log-in to the check of its password. Attempts in progress count as failed, so that
    /// concurrent attempts gain nothing.
    func admit(_ attempt: Attempt) throws(AccountRefusal) -> Admission {
        let now = clock.millisecondsSince1970()
        let isKnown = attempt.knownDevice != nil || acquaintances.contains(attempt.key)
        let address = isKnown ? nil : Key(attempt.address)
        // The address first: names of refused attempts use no memory.
        if let address, let wait = byAddress.take(address, at: now) { throw refusal(wait) }
        if let wait = byName.take(attempt.key, at: now) {
            if let address { byAddress.giveBack(address) }
            throw refusal(wait)
        }
        return Admission(name: attempt.key, address: address)
    }

    /// The secret was right.
    func recordSuccess(_ admission: Admission) {
        forgive(admission)
        acquaintances.insert(admission.name)
    }

    /// Returns an attempt whose password was not checked.
    func forgive(_ admission: Admission) {
        byName.giveBack(admission.name)
        if let address = admission.address { byAddress.giveBack(address) }
    }

    /// Counts a wrong token; throws if there were too many from the address.
    func recordWrongToken(from address: String) throws(AccountRefusal) {
        let wait = wrongTokensByAddress.take(Key(address), at: clock.millisecondsSince1970())
        if let wait { throw refusal(wait) }
    }

    /// Admits a new user or account, for which a client needs no proof.
    func admitNewUser(from address: String) throws(AccountRefusal) {
        let wait = newUsersByAddress.take(Key(address), at: clock.millisecondsSince1970())
        guard let wait else { return }
        throw .tooManyNewUsers(retryAfterInSeconds: Self.seconds(wait))
    }

    /// Admits sending a token to an account's owner.
    func admitMail(to name: UserName, of app: AppID) throws(AccountRefusal) {
        let now = clock.millisecondsSince1970()
        let key = Key(app.rawValue, name.rawValue)
        guard let wait = byAccount.take(key, at: now) else { return }
        throw .tooManyMails(retryAfterInSeconds: Self.seconds(wait))
    }

    /// Admits a request for digests of a realm.
    func admitComparison(by user: UserID, of app: AppID) throws(AccountRefusal) {
        let key = Key(app.rawValue, user.rawValue)
        let wait = comparisonsByUser.take(key, at: clock.millisecondsSince1970())
        guard let wait else { return }
        throw .tooManyComparisons(retryAfterInSeconds: Self.seconds(wait))
    }

    private func refusal(_ milliseconds: Int64) -> AccountRefusal {
        .tooManyFailures(retryAfterInSeconds: Self.seconds(milliseconds))
    }

    private static func seconds(_ milliseconds: Int64) -> Int {
        Int((milliseconds + 999) / 1000)
    }
}

/// The most recent pairs of names and the addresses that they have logged in from.
private struct Acquaintances {
    private static let capacity = 10_000
    private var lastSeen: [AttemptLimiter.Key: UInt64] = [:]
    private var count: UInt64 = 0

    func contains(_ key: AttemptLimiter.Key) -> Bool { lastSeen[key] != nil }

    mutating func insert(_ key: AttemptLimiter.Key) {
        count += 1
        lastSeen[key] = count
        guard lastSeen.count > Self.capacity else { return }
        let kept = lastSeen.sorted { $0.value > $1.value }.prefix(Self.capacity / 2)
        lastSeen = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
