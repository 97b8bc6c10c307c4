import Changesets
package import JSON
package import Migration

/// The report of `import data` (moving an app, 6).
package struct DataReport: Sendable {
    /// By the name of the class, or of the collection in parentheses.
    package private(set) var classes: [String: ClassReport] = [:]
    package private(set) var findings: [String] = []
    /// Documents of sources that cannot be read to their end.
    package private(set) var isDamaged = false

    package init() {}

    package struct ClassReport: Hashable, Sendable {
        package var collection = ""
        package var read = 0
        package var stored = 0
        package var unsynced = 0
        package var ignored = 0
        /// Documents whose `_id` came again.
        package var repeated = 0
        package var partitions: [String: Int] = [:]
        package var counts = ConversionCounts()
        package var dangling = 0
        /// Changes of the store by the run.
        package var created = 0
        package var updated = 0
        package var moved = 0
        package var kept = 0
        package var removed = 0
        /// Names of fields without a property, the first thousand of them.
        package var droppedPaths: [String: Int] = [:]
    }

    package mutating func withClass(_ name: String, _ change: (inout ClassReport) -> Void) {
        change(&classes[name, default: ClassReport()])
    }

    package mutating func add(damage: String) {
        findings.append(damage)
        isDamaged = true
    }

    package var exitStatus: Int32 {
        isDamaged || classes.values.contains { $0.unsynced > 0 } ? 1 : 0
    }

    /// Objects that the run wrote or removed.
    package var changes: Int {
        classes.values.reduce(0) { $0 + $1.created + $1.updated + $1.moved + $1.removed }
    }

    package var read: Int { classes.values.reduce(0) { $0 + $1.read } }
}

extension DataReport {
    /// One member for each class; counts that are zero are left out, but for the first four.
    package var json: JSONValue {
        .object(classes.mapValues(\.json))
    }
}

extension DataReport.ClassReport {
    private static let mostPartitions = 10_000

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "collection": .string(collection), "read": .integer(Int64(read)),
            "stored": .integer(Int64(stored)), "unsynced": .integer(Int64(unsynced)),
            "ignored": .integer(Int64(ignored)),
        ]
        let shown = partitions.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .prefix(Self.mostPartitions)
        members["partitions"] = .object(
            Dictionary(uniqueKeysWithValues: shown.map { ($0.key, .integer(Int64($0.value))) })
        )
        let others: [(String, Int)] = [
            ("repeated", repeated), ("converted", counts.converted), ("rounded", counts.rounded),
            ("default", counts.defaulted), ("collapsed", counts.collapsed),
            ("dropped", counts.dropped), ("dangling", dangling),
        ]
        for (name, count) in others where count > 0 { members[name] = .integer(Int64(count)) }
        return .object(members)
    }
}
