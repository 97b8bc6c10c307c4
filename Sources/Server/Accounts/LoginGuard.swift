/// Counts failed log-ins, by address and by name at that address (app services, 14).
///
/// A name alone has no bucket: anyone who knows it could lock its owner out.
actor LoginGuard {
    private typealias Key = AttemptLimiter.Key

    private var byAddress = AttemptLimiter(burst: 100, refillInterval: 600)
    private var byName = AttemptLimiter(burst: 10, refillInterval: 6000)
    /// Mails and decisions for one account, whoever asks: its owner must not drown in them.
    private var byAccount = AttemptLimiter(burst: 5, refillInterval: 60_000)
    /// Each is a row of the store: one address must not make any number of them.
    private var newUsersByAddress = AttemptLimiter(burst: 1000, refillInterval: 3600)
    private let clock: WallClock

    init(clock: WallClock) {
        self.clock = clock
    }

    /// Lets a log-in through to the check of its password. Attempts under way count as failed, so
    /// that many at once gain nothing.
    func admit(_ name: String, from address: String) throws(ServiceRefusal) {
        let now = clock.millisecondsSince1970()
        // The address first: names that are not let through are not remembered either.
        if let wait = byAddress.take(Key(address), at: now) { throw refusal(wait) }
        if let wait = byName.take(Key(address, name), at: now) {
            byAddress.giveBack(Key(address))
            throw refusal(wait)
        }
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

    func recordSuccess(_ name: String, from address: String) {
        byName.giveBack(Key(address, name))
        byAddress.giveBack(Key(address))
    }

    private func refusal(_ milliseconds: Int64) -> ServiceRefusal {
        .tooManyAttempts(retryAfterInSeconds: Self.seconds(milliseconds))
    }

    private static func seconds(_ milliseconds: Int64) -> Int {
        Int((milliseconds + 999) / 1000)
    }
}
