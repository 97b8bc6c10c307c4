/// Counters of one name, each with its own label values.
///
/// The number of counters is limited: label values that clients can invent must not fill the memory.
package struct CounterFamily: Sendable, Equatable {
    private let labels: [String]
    private let limit: Int
    package private(set) var counts: [[String]: UInt64] = [:]

    /// All counters above `limit` share one, whose label values are `other`.
    package init(_ labels: String..., limit: Int = 1_000) {
        self.labels = labels
        self.limit = limit
    }

    /// - Parameter values: one for each label.
    package mutating func add(_ values: String..., count amount: Int = 1) {
        guard amount > 0, values.count == labels.count else { return }
        let known = counts[values] != nil || counts.count < limit
        let place = known ? values : labels.map { _ in Self.other }
        counts[place, default: 0] &+= UInt64(amount)
    }

    package static let other = "other"

    /// In the order of their labels.
    package var samples: [OpenMetrics.Sample] {
        counts.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { values, count in
            OpenMetrics.Sample(Array(zip(labels, values)).map { ($0, $1) }, Double(count))
        }
    }
}
