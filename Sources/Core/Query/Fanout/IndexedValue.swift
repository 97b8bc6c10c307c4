import Changesets
import Schemas

/// A value by which a predicate index finds views: equal exactly if a comparison by `==` holds.
///
/// Only types of which values equal no value of another type, and doubles beside doubles. So
/// properties of type Mixed and Decimal are left to the scan.
enum IndexedValue: Hashable, Comparable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case notANumber
    case double(Double)
    case bytes([UInt8])
    case date(QueryDate)

    /// Nil for a value of another type than the property's.
    init?(_ value: QueryValue, of type: PropertyType) {
        switch (value, type) {
        case (.null, .int), (.null, .bool), (.null, .double), (.null, .string),
            (.null, .timestamp), (.null, .objectID), (.null, .uuid):
            self = .null
        case (.bool(let value), .bool): self = .bool(value)
        case (.int(let value), .int): self = .int(value)
        case (.double(let value), .double): self = value.isNaN ? .notANumber : .double(value)
        case (.string(let bytes), .string): self = .bytes(bytes)
        case (.date(let date), .timestamp): self = .date(date)
        case (.objectID(let value), .objectID): self = .bytes(Array(value.bytes))
        case (.uuid(let value), .uuid): self = .bytes(Array(value.bytes))
        default: return nil
        }
    }

    /// Values of one field have one case, or these: null comes first, NaN before all other numbers.
    static func < (left: IndexedValue, right: IndexedValue) -> Bool {
        switch (left, right) {
        case (.int(let left), .int(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
        case (.date(let left), .date(let right)): left < right
        case (.bool(let left), .bool(let right)): !left && right
        default: left.rank < right.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int: 2
        case .notANumber: 3
        case .double: 4
        case .bytes: 5
        case .date: 6
        }
    }
}

/// The values of a field that an alternative of a query admits, or more.
enum IndexedRange: Hashable, Sendable {
    case point(IndexedValue)
    case interval(Interval<IndexedValue>)
}

/// Both bounds are included; nil: no bound.
struct Interval<Bound: Comparable & Hashable & Sendable>: Hashable, Sendable {
    var lower: Bound?
    var upper: Bound?

    func contains(_ value: Bound) -> Bool {
        lower.map { $0 <= value } ?? true && upper.map { value <= $0 } ?? true
    }

    /// Nil if no value is in both.
    func intersection(_ other: Interval) -> Interval? {
        var lower = self.lower
        var upper = self.upper
        if let bound = other.lower { lower = lower.map { max($0, bound) } ?? bound }
        if let bound = other.upper { upper = upper.map { min($0, bound) } ?? bound }
        if let lower, let upper, upper < lower { return nil }
        return Interval(lower: lower, upper: upper)
    }
}
