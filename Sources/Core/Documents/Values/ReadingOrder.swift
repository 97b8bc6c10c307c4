package import Changesets

/// The order of two values.
package enum Order: Sendable {
    case ascending, same, descending

    init<Element: Comparable>(_ left: Element, _ right: Element) {
        self = left < right ? .ascending : left == right ? .same : .descending
    }

    /// This order, or if equal, the next one.
    func then(_ next: @autoclosure () -> Order) -> Order {
        self == .same ? next() : self
    }
}

/// The order in which sets are read; `.same` is the equality of sets (instruction semantics, 1.7).
extension Scalar {
    package func readingOrder(to other: Scalar) -> Order {
        switch (self, other) {
        case (.null, .null): return .same
        case (.bool(let left), .bool(let right)): return Order(left ? 1 : 0, right ? 1 : 0)
        case (.int(let left), .int(let right)): return Order(left, right)
        case (.string(let left), .string(let right)): return Order(left, right)
        case (.binary(let left), .binary(let right)):
            return left == right ? .same : Order(Text(bytes: left), Text(bytes: right))
        case (.timestamp(let left), .timestamp(let right)): return Order(left, right)
        case (.objectID(let left), .objectID(let right)): return Order(left, right)
        case (.uuid(let left), .uuid(let right)): return Order(left, right)
        case (.link(let left), .link(let right)): return left.readingOrder(to: right)
        default:
            if let left = number, let right = other.number { return left.order(to: right) }
            return Order(rank, other.rank)
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .float, .double, .decimal: 2
        case .string: 3
        case .binary: 4
        case .timestamp: 5
        case .objectID: 6
        case .uuid: 7
        case .link: 8
        }
    }

    private var number: ExactNumber? {
        switch self {
        case .int(let value): ExactNumber(value)
        case .float(let value): ExactNumber(value)
        case .double(let value): ExactNumber(value)
        case .decimal(let value): ExactNumber(value)
        case .null, .bool, .string, .binary, .timestamp, .link, .objectID, .uuid: nil
        }
    }
}

extension ObjectReference {
    func readingOrder(to other: ObjectReference) -> Order {
        // Usually one class, whose name is one array: equality is one comparison.
        className == other.className
            ? key.readingOrder(to: other.key)
            : Order(className, other.className)
    }
}

extension ObjectKey {
    package func readingOrder(to other: ObjectKey) -> Order {
        switch (self, other) {
        case (.int(let left), .int(let right)): Order(left, right)
        case (.string(let left), .string(let right)): Order(left, right)
        case (.objectID(let left), .objectID(let right)): Order(left, right)
        case (.uuid(let left), .uuid(let right)): Order(left, right)
        case (.globalKey(let left), .globalKey(let right)):
            Order(left.high, right.high).then(Order(left.low, right.low))
        default: Order(rank, other.rank)
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .int: 1
        case .string: 2
        case .objectID: 3
        case .uuid: 4
        case .globalKey: 5
        }
    }
}
