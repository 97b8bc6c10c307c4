import Testing

@testable import ServerAccounts
@testable import ServerStore

@Suite("Password hashes")
struct PasswordHasherTests {
    @Test("A hash matches only its password; without a hash no password matches")
    func hashes() async throws {
        let hasher = PasswordHasher(cost: 1)
        let hash = try await hasher.hash("correct horse")
        #expect(try await hasher.verify("correct horse", against: hash))
        #expect(try await !hasher.verify("wrong horse", against: hash))
        #expect(try await !hasher.verify("correct horse", against: nil))
        #expect(try await !hasher.verify("correct\0horse", against: hash))
        // An account without password: not even its mark is one.
        for password in ["", "!", "correct horse"] {
            #expect(try await !hasher.verify(password, against: .unusable))
        }
    }

    @Test("A flood from one address is refused temporarily, another address is not")
    func flood() async throws {
        let hasher = PasswordHasher(cost: 3, waitingAtMost: 20)
        @Sendable func attempt(_ address: String) async -> AccountRefusal? {
            do {
                _ = try await hasher.hash("correct horse", from: address)
                return nil
            } catch {
                #expect(error is AccountRefusal)
                return error as? AccountRefusal
            }
        }
        await withTaskGroup(of: (isHome: Bool, refusal: AccountRefusal?).self) { group in
            for _ in 0..<200 { group.addTask { (false, await attempt("flood")) } }
            for _ in 0..<5 { group.addTask { (true, await attempt("home")) } }
            for _ in 0..<200 { group.addTask { (false, await attempt("flood")) } }
            var refusals = 0
            for await (isHome, refusal) in group {
                if isHome {
                    #expect(refusal == nil)
                } else if refusal == .tooManyLogIns {
                    refusals += 1
                }
            }
            #expect(refusals > 100)
        }
        #expect(await hasher.waitingCount == 0)
    }
}
