/// Distribution of durations, in seconds.
package struct Histogram: Sendable, Equatable {
    private let bounds: [Double]
    private var counts: [UInt64]
    package private(set) var sum = 0.0

    /// Upper bounds of the buckets, ascending, in seconds.
    package init(bounds: [Double] = Self.standardBounds) {
        self.bounds = bounds
        self.counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    /// From 1 ms to 10 s.
    package static let standardBounds = [0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0]

    package mutating func record(seconds: Double) {
        let index = bounds.firstIndex { seconds <= $0 } ?? bounds.count
        counts[index] += 1
        sum += seconds
    }

    package var count: UInt64 {
        counts.reduce(0, +)
    }

    /// Cumulative counts by upper bound; the last bound is nil, for infinity.
    package var buckets: [(bound: Double?, count: UInt64)] {
        var total: UInt64 = 0
        return counts.indices.map { index in
            total += counts[index]
            return (index < bounds.count ? bounds[index] : nil, total)
        }
    }
}
