import Scheduling
import Settings

/// Reads `network`: which networks are used, and which are poor.
struct NetworkReader {
    func read(_ keys: MappingReader) -> NetworkPolicy {
        let standard = NetworkPolicy()
        return NetworkPolicy(
            deniedInterfaces: keys.optional("deny_interfaces", default: []) { reader in
                reader.elements { element in
                    element.string(
                        matching: { $0.utf8.count <= 64 && !$0.contains("/") && !$0.contains(" ") },
                        expected: "the name of an interface, or a pattern such as wwan*"
                    ).map(NamePattern.init)
                }
            },
            guessesMetering: keys.section("metered") { metered in
                metered.optional("guess", default: standard.guessesMetering) { $0.bool() }
            },
            lowBattery: keys.section("battery") { battery in
                battery.optional("low_below", default: standard.lowBattery) {
                    $0.percentage(in: 0...1)
                }
            },
            poor: keys.section("poor", readPoorNetwork)
        )
    }

    private func readPoorNetwork(_ keys: MappingReader) -> PoorNetwork {
        let standard = PoorNetwork()
        let (second, hour) = (Duration.seconds(1), Duration.seconds(3_600))
        let failures = keys.optional("failures") {
            $0.rate(word: "in", counts: 1...1_000, periods: second...(hour * 24))
        }
        return PoorNetwork(
            roundTripAbove: keys.optional("rtt_above", default: standard.roundTripAbove) {
                $0.duration(in: .milliseconds(1)...(second * 60))
            },
            lossAbove: keys.optional("loss_above", default: standard.lossAbove) {
                $0.percentage(in: 0...1)
            },
            failures: failures?.count ?? standard.failures,
            failuresWithin: failures?.period ?? standard.failuresWithin,
            recoverAfter: keys.optional("recover_after", default: standard.recoverAfter) {
                $0.duration(in: .zero...hour)
            },
            probeEvery: keys.optional("probe_every", default: standard.probeEvery) {
                $0.duration(in: (second * 10)...(hour * 24))
            }
        )
    }
}
