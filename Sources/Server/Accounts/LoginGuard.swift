/// Counts failed log-ins, by address and by name at that address (app services, 14).
///
/// A name alone has no bucket: anyone who knows it could lock its owner out. Wrong attempts of others at the
/// same address, such as that of a site, must not refuse a right one either: a name that has logged in from
/// there before is counted alone, and a device that has logged in as the user before has a bucket of its own.
actor LoginGuard {
    fileprivate typealias Key = AttemptLimiter.Key

    private var byAddress = AttemptLimiter(burst: 100, refillInterval: 600)
    private var byName = AttemptLimiter(burst: 10, refillInterval: 6000)
    /// Secrets too long to be guessed are checked first, which costs next to nothing: only wrong ones count.
    private var wrongTokensByAddress = AttemptLimiter(burst: 100, refillInterval: 600)
    /// Mails and decisions for one account, from any address: its owner must not drown in them.
    private var byAccount = AttemptLimiter(burst: 5, refillInterval: 60_000)
    /// Each is a row of the store: one address must not make any number of them.
    private var newUsersByAddress = AttemptLimiter(burst: 1000, refillInterval: 3600)
    private var acquaintances = Acquaintances()
    private let clock: WallClock

    /// A secret that could be guessed, before it is checked.
    struct Attempt: Sendable {
        let address: String
        /// What is tried: a name, or a digest of a payload.
        let name: String
        /// The device, where the user that it claims to be has logged in from it before.
        var knownDevice: String?

        fileprivate var key: Key {
            if let knownDevice { return Key("device", knownDevice, name) }
            return Key("address", address, name)
        }
    }

    /// An attempt that was let through, and what it has taken.
    struct Admission: Sendable {
        fileprivate let name: AttemptLimiter.Key
        fileprivate let address: AttemptLimiter.Key?
    }

    init(clock: WallClock) {
        self.clock = clock
    }

    /// Lets a log-in through to the check of its password. Attempts under way count as failed, so
    /// that many at once gain nothing.
    func admit(_ attempt: Attempt) throws(ServiceRefusal) -> Admission {
        let now = clock.millisecondsSince1970()
        let isKnown = attempt.knownDevice != nil || acquaintances.contains(attempt.key)
        let address = isKnown ? nil : Key(attempt.address)
        // The address first: names that are not let through are not remembered either.
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

    /// The attempt was no guess, but nothing was proven either.
    func forgive(_ admission: Admission) {
        byName.giveBack(admission.name)
        if let address = admission.address { byAddress.giveBack(address) }
    }

    /// Counts a token that was wrong; throws where there have been too many from the address.
    func recordWrongToken(from address: String) throws(ServiceRefusal) {
        let wait = wrongTokensByAddress.take(Key(address), at: clock.millisecondsSince1970())
        if let wait { throw refusal(wait) }
    }

    /// Lets a client become a user, or register an account, without having shown anything.
    func admitNewUser(from address: String) throws(ServiceRefusal) {
        let wait = newUsersByAddress.take(Key(address), at: clock.millisecondsSince1970())
        guard let wait else { return }
        throw .tooManyNewUsers(retryAfterInSeconds: Self.seconds(wait))
    }

    /// Lets a token be sent to an account's owner.
    func admitMail(to name: UserName, of app: AppID) throws(ServiceRefusal) {
        let now = clock.millisecondsSince1970()
        let key = Key(app.rawValue, name.rawValue)
        guard let wait = byAccount.take(key, at: now) else { return }
        throw .tooManyMails(retryAfterInSeconds: Self.seconds(wait))
    }

    private func refusal(_ milliseconds: Int64) -> ServiceRefusal {
        .tooManyAttempts(retryAfterInSeconds: Self.seconds(milliseconds))
    }

    private static func seconds(_ milliseconds: Int64) -> Int {
        Int((milliseconds + 999) / 1000)
    }
}

/// Which names have logged in from which addresses, the latest of them.
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
