import Coordination
import SQLite

/// Makes and checks password hashes, one at a time: each costs tens of milliseconds of a processor,
/// and a flood of log-ins must not take more than one.
///
/// The work is done on a thread of its own. Those who wait take turns by address, and there is a bound: beyond
/// it, the address with most attempts is told to come back later.
package actor PasswordHasher {
    /// The system's libcrypt would not hash.
    package struct Failure: Error, Sendable {}

    private let crypt: PasswordCrypt
    private let thread = DatabaseExecutor(label: "realm-server.passwords")
    private let turns: Turns<String>

    /// `cost` 1 ... 11; 5 is the library's default, lower only for tests. `waitingAtMost`: attempts that wait for
    /// their turn.
    package init(cost: UInt = 5, waitingAtMost: Int = ServerLimits.standard.waitingLogIns) {
        self.crypt = PasswordCrypt(cost: cost)
        self.turns = Turns(waitingAtMost: waitingAtMost)
    }

    /// Throws `ServiceRefusal` where too many wait, else `Failure`. The operator has no address.
    package func hash(_ password: String, from address: String = "") async throws -> PasswordHash {
        try await takingTurns(address) { crypt in try crypt.hash(password) }
    }

    /// Whether the password belongs to the hash. Without a hash the answer is no, after as much work.
    package func verify(
        _ password: String,
        against hash: PasswordHash?,
        from address: String = ""
    ) async throws -> Bool {
        try await takingTurns(address) { crypt in try crypt.verify(password, against: hash) }
    }

    /// How many attempts wait for their turn.
    var waitingCount: Int { turns.load.waiting }

    private func takingTurns<Outcome: Sendable>(
        _ address: String,
        _ body: @escaping @Sendable (PasswordCrypt) throws -> Outcome
    ) async throws -> Outcome {
        try await turns.take(from: address, orThrow: ServiceRefusal.tooManyLogIns as any Error) {
            let crypt = crypt
            return try await thread.perform { Result { try body(crypt) } }.get()
        }
    }
}
