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

    /// The buckets; each has a limiter of this process's, and one of all processes.
    private enum Bucket: UInt8, CaseIterable {
        case address = 1
        case name
        /// Secrets too long to be guessed are checked first, which costs almost nothing: only wrong
        /// ones count.
        case wrongToken
        /// Mails and decisions for one account, from any address: limits those that its owner gets.
        case account
        /// Each is a row of the store: limits the rows that one address can create.
        case newUser
        /// Digests of a realm: limits the work that one user can cause.
        case comparison

        func limiter(comparisonsPerMinute: Int) -> AttemptLimiter {
            switch self {
            case .address, .wrongToken: AttemptLimiter(burst: 100, refillInterval: 600)
            case .name: AttemptLimiter(burst: 10, refillInterval: 6000)
            case .account: AttemptLimiter(burst: 5, refillInterval: 60_000)
            case .newUser: AttemptLimiter(burst: 1000, refillInterval: 3600)
            case .comparison:
                AttemptLimiter(
                    burst: comparisonsPerMinute,
                    refillInterval: max(1, 60_000 / Int64(comparisonsPerMinute))
                )
            }
        }
    }

    private var limiters: [Bucket: AttemptLimiter]
    private var acquaintances = Acquaintances()
    private let clock: WallClock
    private let backplane: any Backplane

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

    init(clock: WallClock, backplane: any Backplane, comparisonsPerMinute: Int) {
        self.clock = clock
        self.backplane = backplane
        self.limiters = Dictionary(
            uniqueKeysWithValues: Bucket.allCases.map {
                ($0, $0.limiter(comparisonsPerMinute: comparisonsPerMinute))
            }
        )
    }

    /// Admits a log-in to the check of its password. Attempts in progress count as failed, so that
    /// concurrent attempts gain nothing.
    func admit(_ attempt: Attempt) async throws(AccountRefusal) -> Admission {
        let isKnown = attempt.knownDevice != nil || acquaintances.contains(attempt.key)
        let address = isKnown ? nil : Key(attempt.address)
        // The address first: names of refused attempts use no memory.
        if let address, let wait = await take(address, .address) { throw refusal(wait) }
        if let wait = await take(attempt.key, .name) {
            if let address { await giveBack(address, .address) }
            throw refusal(wait)
        }
        return Admission(name: attempt.key, address: address)
    }

    /// The secret was right.
    func recordSuccess(_ admission: Admission) async {
        acquaintances.insert(admission.name)
        await forgive(admission)
    }

    /// Returns an attempt whose password was not checked.
    func forgive(_ admission: Admission) async {
        await giveBack(admission.name, .name)
        if let address = admission.address { await giveBack(address, .address) }
    }

    /// Counts a wrong token; throws if there were too many from the address.
    func recordWrongToken(from address: String) async throws(AccountRefusal) {
        if let wait = await take(Key(address), .wrongToken) { throw refusal(wait) }
    }

    /// Admits a new user or account, for which a client needs no proof.
    func admitNewUser(from address: String) async throws(AccountRefusal) {
        guard let wait = await take(Key(address), .newUser) else { return }
        throw .tooManyNewUsers(retryAfterInSeconds: Self.seconds(wait))
    }

    /// Admits sending a token to an account's owner.
    func admitMail(to name: UserName, of app: AppID) async throws(AccountRefusal) {
        guard let wait = await take(Key(app.rawValue, name.rawValue), .account) else { return }
        throw .tooManyMails(retryAfterInSeconds: Self.seconds(wait))
    }

    /// Admits a request for digests of a realm.
    func admitComparison(by user: UserID, of app: AppID) async throws(AccountRefusal) {
        let wait = await take(Key(app.rawValue, user.rawValue), .comparison)
        guard let wait else { return }
        throw .tooManyComparisons(retryAfterInSeconds: Self.seconds(wait))
    }

    // MARK: Buckets

    /// Takes one attempt here, then from all processes. If none is left, takes nothing and returns the
    /// milliseconds until the next.
    private func take(_ key: Key, _ bucket: Bucket) async -> Int64? {
        let now = clock.millisecondsSince1970()
        if let wait = limiters[bucket]?.take(key, at: now) { return wait }
        guard let counted = counted(key, bucket), let wait = await backplane.take(counted) else {
            return nil
        }
        limiters[bucket]?.giveBack(key)
        return wait
    }

    private func giveBack(_ key: Key, _ bucket: Bucket) async {
        limiters[bucket]?.giveBack(key)
        if let counted = counted(key, bucket) { await backplane.giveBack(counted) }
    }

    private func counted(_ key: Key, _ bucket: Bucket) -> CountedAttempt? {
        limiters[bucket].map { limiter in
            CountedAttempt(
                key: [bucket.rawValue] + key.bytes,
                burst: limiter.burst,
                refillInterval: limiter.refillInterval
            )
        }
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
