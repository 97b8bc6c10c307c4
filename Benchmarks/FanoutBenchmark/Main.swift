import Changesets
import Documents
import Query
import Schemas

/// Measures what it costs to find the sessions that a write concerns, with few and with many sessions.
@main
struct FanoutBenchmark {
    static func main() throws {
        print("changes of an object's store; for one write: time, views to evaluate, views with it")
        for (name, query) in [
            ("store == 'n'", { "store == '\($0)'" }),
            ("one of 100 stores", { "store == '\($0 % 100)' AND level > \($0 % 7)" }),
            ("level in a range", { "level > \($0 * 10) AND level < \($0 * 10 + 15)" }),
            ("store CONTAINS 'n'", { "store CONTAINS '\($0)'" }),
        ] as [(String, (Int) -> String)] {
            for sessions in [20, 2_000] {
                try measure(name, sessions, query)
            }
        }
    }

    private static func measure(
        _ name: String,
        _ sessions: Int,
        _ query: (Int) -> String
    ) throws {
        let world = World()
        var index = PredicateIndex<Int>()
        let clock = ContinuousClock()
        let insertion = try clock.measure {
            for session in 0..<sessions {
                index.insert(try world.check(query(session)), of: session)
            }
        }
        let writes = 500
        let images = (0..<writes).map { world.object(store: $0 % sessions, level: $0 * 7 % 20_000) }
        var best = Duration.seconds(3600)
        var (candidates, matches) = (0, 0)
        for _ in 0..<3 {
            (candidates, matches) = (0, 0)
            let time = clock.measure {
                for number in 1..<writes {
                    let change = [images[number - 1], images[number]]
                    for view in index.candidates(for: change, of: World.className) {
                        candidates += 1
                        if view.evaluator.matches(change[1]) { matches += 1 }
                    }
                }
            }
            best = min(best, time)
        }
        let micros = best / .microseconds(1) / Double(writes - 1)
        print(
            "\(padded(name, 20)) \(padded("\(sessions)", 6)) sessions",
            "\(padded(rounded(micros), 9)) µs",
            "\(padded(rounded(Double(candidates) / Double(writes - 1)), 7)) candidates",
            "\(padded(rounded(Double(matches) / Double(writes - 1)), 7)) matches",
            "  set up in \(Int(insertion / .milliseconds(1))) ms"
        )
    }

    private static func rounded(_ number: Double) -> String {
        let tenths = Int(number * 10)
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

/// A class of orders.
struct World {
    static let className: Text = "Order"
    private let owner = ClassSchema(
        name: className,
        kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
        properties: [
            PropertySchema(name: "store", type: .string, isNullable: false),
            PropertySchema(name: "level", type: .int, isNullable: false),
        ]
    )

    func check(_ text: String) throws -> CheckedQuery {
        try SubscriptionRules(schema: RealmSchema([owner]))
            .check(Array(text.utf8), of: Self.className)
    }

    func object(store: Int, level: Int) -> DocumentObject {
        let values: [Value] = [.scalar(.string(Text("\(store)"))), .scalar(.int(Int64(level)))]
        return DocumentObject(key: .int(1), Document(values: values), of: owner)
    }
}
