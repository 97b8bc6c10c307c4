import Merge

/// Measures merges and prints a table of figures; see the README.
@main
enum MergeBenchmark {
    static func main() throws {
        print("workload                     instructions/s       time   growth when doubled")
        for workload in [Workload.distinctObjects, .sameObjects, .oneList] {
            let half = try measure(workload, count: workload.count / 2)
            let full = try measure(workload, count: workload.count)
            let rate = Double(2 * workload.count) / full
            print(
                workload.name.padded(to: 28),
                whole(rate).leftPadded(to: 14),
                "\(whole(full * 1_000)) ms".leftPadded(to: 10),
                oneDecimal(full / half).leftPadded(to: 9)
            )
        }
    }

    /// The median of several runs, in seconds.
    private static func measure(_ workload: Workload, count: Int) throws -> Double {
        let clock = ContinuousClock()
        let times = try (0..<7).map { _ in
            var (ours, theirs) = workload.operands(count)
            let time = try clock.measure { try rebase(ours: &ours, theirs: &theirs) }
            return time / .seconds(1)
        }
        return times.sorted()[times.count / 2]
    }
}

private func whole(_ number: Double) -> String {
    String(Int(number + 0.5))
}

private func oneDecimal(_ number: Double) -> String {
    let tenths = Int(number * 10 + 0.5)
    return "\(tenths / 10).\(tenths % 10)"
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    fileprivate func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
