import Changesets
import FoundationEssentials

/// Measures an app of flexible sync: the cost of a write with few and with many sessions, and bootstraps.
///
/// The clients are in the same process, speak the wire protocol, and keep nothing.
@main
struct ViewBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let writes = arguments.first ?? 200
        let large = arguments.count > 1 ? arguments[1] : 1_000_000
        try await measureWrites(writes)
        try await measureBootstrap(of: 200_000, every: 2)
        try await measureBootstrap(of: large, every: 1)
    }

    /// Sessions with different `store == 'n'`; each write concerns one of them.
    private static func measureWrites(_ writes: Int) async throws {
        print("a write that concerns one session, from UPLOAD to its DOWNLOAD; \(writes) writes")
        for sessions in [20, 2_000, 20, 2_000] {
            let times = try await World.with { world in
                let writer = try await world.client()
                try await writer.begin(store: nil)
                var readers: [Client] = []
                for number in 0..<sessions {
                    let reader = try await world.client()
                    try await reader.begin(store: number)
                    readers.append(reader)
                }
                let clock = ContinuousClock()
                var times: [Duration] = []
                for number in 0..<writes {
                    let store = number * 7 % sessions
                    let start = clock.now
                    try await writer.upload([(key: number, store: store)])
                    try await readers[store].expectChanges()
                    times.append(clock.now - start)
                    try await writer.expectAcknowledgement()
                }
                return times.sorted()
            }
            print(
                "  \(padded(sessions, 5)) sessions: median \(micros(times[times.count / 2])) µs,",
                "99th percentile \(micros(times[times.count * 99 / 100])) µs,",
                "all together \(micros(times.reduce(.zero, +)) / 1000) ms"
            )
        }
    }

    /// A bootstrap of a part of the objects, and the rate in each tenth of it.
    private static func measureBootstrap(of count: Int, every nth: Int) async throws {
        try await World.with { world in
            let writer = try await world.client()
            try await writer.begin(store: nil)
            let clock = ContinuousClock()
            let filling = try await clock.measure {
                var last = 0
                while last < count {
                    let next = min(last + 1000, count)
                    try await writer.upload((last..<next).map { (key: $0, store: $0 % nth) })
                    try await writer.expectAcknowledgement()
                    last = next
                }
            }
            let before = Memory.resident
            Memory.resetPeak()
            let reader = try await world.client()
            let start = clock.now
            var marks: [(objects: Int, time: Duration)] = []
            try await reader.begin(store: 0) { objects in marks.append((objects, clock.now - start))
            }
            let total = marks.last?.time ?? .zero
            let objects = marks.last?.objects ?? 0
            print(
                "bootstrap of \(objects) of \(count) objects: \(rate(objects, total)) objects/s;",
                "resident \(before) MiB before, at most \(Memory.peak) MiB during;",
                "uploaded at \(rate(count, filling)) objects/s"
            )
            var tenths: [Int] = []
            var last = (objects: 0, time: Duration.zero)
            for tenth in 1...10 {
                guard let mark = marks.first(where: { $0.objects >= objects * tenth / 10 }) else {
                    continue
                }
                if mark.objects > last.objects {
                    tenths.append(rate(mark.objects - last.objects, mark.time - last.time))
                }
                last = mark
            }
            print("  in tenths: \(tenths.map { "\($0)" }.joined(separator: " "))")
        }
    }

    private static func rate(_ count: Int, _ time: Duration) -> Int {
        Int(Double(count) / max(time / .seconds(1), 0.000_001))
    }

    private static func micros(_ time: Duration) -> Int { Int(time / .microseconds(1)) }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = "\(number)"
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

/// The memory of this process, in MiB.
enum Memory {
    static var resident: Int { field("VmRSS:") }
    static var peak: Int { field("VmHWM:") }

    static func resetPeak() {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    }

    private static func field(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        let kibibytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        return (kibibytes.flatMap { Int($0) } ?? 0) / 1024
    }
}
