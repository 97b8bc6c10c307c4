/// Counts failed log-ins, by address and by name at that address (app services, 14).
///
/// A name alone has no bucket: whoever knows it could lock its owner out.
actor LoginGuard {
    private var byName = AttemptLimiter(burst: 10, refillInterval: 6000)
    private var byAddress = AttemptLimiter(burst: 100, refillInterval: 600)
    /// Mails and decisions for one account: whoever asks, its owner must not drown in them.
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
        if let wait = byName.take(key(name, address), at: now) { throw refusal(wait) }
        if let wait = byAddress.take(address, at: now) { throw refusal(wait) }
    }

    /// Lets somebody become a user, or register an account, without having shown anything.
    func admitNewUser(from address: String) throws(ServiceRefusal) {
        let wait = newUsersByAddress.take(address, at: clock.millisecondsSince1970())
        guard let wait else { return }
        throw .tooManyNewUsers(retryAfterInSeconds: Self.seconds(wait))
    }

    /// Lets a token be sent to an account's owner.
    func admitMail(to name: String, of app: AppID) throws(ServiceRefusal) {
        let now = clock.millisecondsSince1970()
        guard let wait = byAccount.take("\(app) \(name)", at: now) else { return }
        throw .tooManyMails(retryAfterInSeconds: Self.seconds(wait))
    }

    func recordSuccess(_ name: String, from address: String) {
        byName.giveBack(key(name, address))
        byAddress.giveBack(address)
    }

    private func refusal(_ milliseconds: Int64) -> ServiceRefusal {
        .tooManyAttempts(retryAfterInSeconds: Self.seconds(milliseconds))
    }

    private static func seconds(_ milliseconds: Int64) -> Int {
        Int((milliseconds + 999) / 1000)
    }

    private func key(_ name: String, _ address: String) -> String {
        "\(address) \(name.prefix(254))"
    }
}
