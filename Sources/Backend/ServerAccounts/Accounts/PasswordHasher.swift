import Coordination
import SQLite
import ServerConfig
package import ServerStore

/// Creates and checks password hashes, one at a time. Each costs tens of milliseconds of a
/// processor, and a flood of log-ins must not use more than one.
///
/// It uses a thread of its own. Waiting attempts take turns by address. Beyond a bound, the address
/// with most attempts is refused.
package actor PasswordHasher {
    /// The system's libcrypt refused to hash.
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

    /// Throws `AccountRefusal.tooManyLogIns` if too many wait, else `Failure`. The operator has no
    /// address.
    package func hash(_ password: String, from address: String = "") async throws -> PasswordHash {
        try await takingTurns(address) { crypt in try crypt.hash(password) }
    }

    /// Whether the password belongs to the hash. Without a hash, returns false after as much work.
    package func verify(
        _ password: String,
        against hash: PasswordHash?,
        from address: String = ""
    ) async throws -> Bool {
        try await takingTurns(address) { crypt in try crypt.verify(password, against: hash) }
    }

    /// The number of attempts that wait for their turn.
    var waitingCount: Int { turns.load.waiting }

    private func takingTurns<Outcome: Sendable>(
        _ address: String,
        _ body: @escaping @Sendable (PasswordCrypt) throws -> Outcome
    ) async throws -> Outcome {
        try await turns.take(from: address, orThrow: AccountRefusal.tooManyLogIns as any Error) {
            let crypt = crypt
            return try await thread.perform { try body(crypt) }
        }
    }
}
