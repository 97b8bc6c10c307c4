/// The order of two values.
enum QueryOrder: Hashable {
    case less, equal, greater

    init<Element: Comparable>(_ left: Element, _ right: Element) {
        self = left < right ? .less : left == right ? .equal : .greater
    }

    var reversed: QueryOrder {
        switch self {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }
}
