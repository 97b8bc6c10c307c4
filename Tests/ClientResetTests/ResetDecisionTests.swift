import ClientReset
import Testing

/// Client reset, 4 and 8.
@Suite struct ResetDecisionTests {
    private let reset = ResetCause(action: .clientReset, code: 208, message: "bad ident")
    private let noRecovery = ResetCause(
        action: .clientResetNoRecovery,
        code: 208,
        message: "bad ident"
    )

    private func decide(
        _ mode: ResetMode,
        _ cause: ResetCause,
        after earlier: ResetAttempt? = nil
    ) -> ResetDecision {
        ResetDecision(mode: mode, cause: cause, earlier: earlier, agentVersion: "1", now: 5)
    }

    private func attempt(
        _ method: ResetMethod,
        _ cause: ResetCause,
        version: String = "1",
        isSpent: Bool = true,
        crashCount: Int = 0
    ) -> ResetAttempt {
        ResetAttempt(
            agentVersion: version,
            startedAt: 1,
            method: method,
            cause: cause,
            isSpent: isSpent,
            crashCount: crashCount
        )
    }

    private func method(_ decision: ResetDecision) -> ResetMethod? {
        guard case .attempt(let attempt) = decision else { return nil }
        return attempt.method
    }

    @Test("The first reset follows the mode")
    func first() {
        #expect(method(decide(.recover, reset)) == .recover)
        #expect(method(decide(.recoverOrDiscard, reset)) == .recover)
        #expect(method(decide(.discard, reset)) == .discard)
        #expect(decide(.manual, reset) == .giveUp(.manualMode))
    }

    @Test("Without permission to recover, only modes that may discard continue")
    func noPermission() {
        #expect(decide(.recover, noRecovery) == .giveUp(.recoveryNotPermitted))
        #expect(method(decide(.recoverOrDiscard, noRecovery)) == .discard)
        #expect(method(decide(.discard, noRecovery)) == .discard)
        #expect(decide(.manual, noRecovery) == .giveUp(.manualMode))
    }

    @Test("A second reset of the same kind is a cycle, unless a lesser method is left")
    func cycles() {
        let discarded = attempt(.discard, reset)
        for mode in [ResetMode.recover, .recoverOrDiscard, .discard] {
            #expect(decide(mode, reset, after: discarded) == .giveUp(.cycle(startedAt: 1)))
        }
        let recovered = attempt(.recover, reset)
        #expect(decide(.recover, reset, after: recovered) == .giveUp(.cycle(startedAt: 1)))
        #expect(method(decide(.recoverOrDiscard, reset, after: recovered)) == .discard)
        #expect(method(decide(.discard, reset, after: recovered)) == .discard)
    }

    @Test("Another action, another version or a request starts a new attempt")
    func unrelated() {
        #expect(method(decide(.recover, reset, after: attempt(.recover, noRecovery))) == .recover)
        let old = attempt(.recover, reset, version: "0")
        #expect(method(decide(.recover, reset, after: old)) == .recover)
        let wish = ResetCause(action: .clientReset, code: 0, message: "by hand", origin: .request)
        #expect(method(decide(.recover, wish, after: attempt(.recover, reset))) == .recover)
    }

    @Test("Two power cuts are not a cycle, a third one is")
    func crashes() {
        var earlier = attempt(.recover, reset, isSpent: false)
        for count in 1...2 {
            guard case .attempt(let next) = decide(.recover, reset, after: earlier) else {
                Issue.record("attempt \(count) was refused")
                return
            }
            #expect(next.crashCount == count)
            #expect(next.method == .recover)
            earlier = next
        }
        let begun = earlier.startedAt
        #expect(decide(.recover, reset, after: earlier) == .giveUp(.cycle(startedAt: begun)))
        #expect(method(decide(.recoverOrDiscard, reset, after: earlier)) == .discard)
    }

    @Test("A reset that continues after a crash is the same reset")
    func continued() {
        let earlier = attempt(.recover, reset, isSpent: false)
        guard case .attempt(let next) = decide(.recover, reset, after: earlier) else {
            Issue.record("refused")
            return
        }
        #expect(next.startedAt == earlier.startedAt)
    }

    @Test("A change of the kind of sync is followed in every mode; manual ones recover or discard")
    func flexibleSync() {
        let there = ResetCause(action: .migrateToFlexibleSync, code: 232, message: "moved")
        let back = ResetCause(action: .revertToPartitionBasedSync, code: 234, message: "back")
        for cause in [there, back] {
            for mode in ResetMode.allCases {
                let expected: ResetMethod = mode == .discard ? .discard : .recover
                #expect(method(decide(mode, cause, after: nil)) == expected)
            }
            let recovered = attempt(.recover, cause)
            #expect(method(decide(.manual, cause, after: recovered)) == .discard)
        }
    }
}
