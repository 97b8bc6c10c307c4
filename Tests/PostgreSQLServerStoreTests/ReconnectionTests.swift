import PostgreSQLServerStore
import TestSupport
import Testing

@testable import PostgreSQL

@Suite("Attempts to reach a server that is away")
struct ReconnectionTests {
    private let error = PostgreSQLError(.unreachable, "away")
    private let start = ContinuousClock.now

    @Test("The pauses double from 0.1 to 5 seconds, less up to half of each")
    func pauses() {
        for seed in UInt64(0)..<50 {
            var random = SplitMix64(seed: seed)
            var reconnection = Reconnection<PostgreSQLError>()
            var now = start
            #expect(reconnection.refusal(at: now) == nil)
            for most in [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000] {
                reconnection.failed(error, at: now, using: &random)
                #expect(reconnection.refusal(at: now) == error)
                #expect(reconnection.refusal(at: now + .milliseconds(most / 2 - 1)) == error)
                now += .milliseconds(most)
                #expect(reconnection.refusal(at: now) == nil)
            }
        }
    }

    @Test("Failures of several lanes at once are one; a success ends the pauses")
    func together() {
        var random = SplitMix64(seed: 1)
        var reconnection = Reconnection<PostgreSQLError>()
        for _ in 0..<8 { reconnection.failed(error, at: start, using: &random) }
        #expect(reconnection.refusal(at: start + .milliseconds(100)) == nil)
        reconnection.failed(error, at: start + .seconds(1), using: &random)
        reconnection.succeeded()
        #expect(reconnection.refusal(at: start + .seconds(1)) == nil)
        reconnection.failed(error, at: start + .seconds(1), using: &random)
        #expect(reconnection.refusal(at: start + .milliseconds(1100)) == nil)
    }
}
