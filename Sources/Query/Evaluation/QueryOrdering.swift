/// Applies SORT, DISTINCT and LIMIT to matching objects, in the order they are written. Subscriptions may
/// not use them.
package struct QueryOrdering {
    private let query: CheckedQuery

    package init(_ query: CheckedQuery) {
        self.query = query
    }

    /// - Parameter objects: those that match, in the order of the class.
    package func arrange<Object: QueryableObject>(_ objects: [Object]) -> [Object] {
        var rows = objects
        var index = 0
        while index < query.ordering.count {
            switch query.ordering[index] {
            case .limit(let count):
                rows = Array(rows.prefix(count))
            case .distinct(let properties):
                rows = distinct(rows, properties)
            case .sort(var properties, var ascending):
                // Of sorts in a row the last one is the first criterion.
                while index + 1 < query.ordering.count,
                    case .sort(let more, let moreAscending) = query.ordering[index + 1]
                {
                    properties = more + properties
                    ascending = moreAscending + ascending
                    index += 1
                }
                rows = sorted(rows, properties, ascending)
            }
            index += 1
        }
        return rows
    }

    private func values(
        of properties: [CheckedProperty],
        _ object: some QueryableObject
    ) -> [QueryValue] {
        properties.map { PropertyReader($0).read(object).values.first ?? .null }
    }

    private func distinct<Object: QueryableObject>(
        _ rows: [Object],
        _ properties: [CheckedProperty]
    ) -> [Object] {
        let keyed = rows.enumerated().map { (values(of: properties, $1), $0) }
        let ascending = [Bool](repeating: true, count: properties.count)
        let sorted = keyed.sorted { precedes($0, $1, ascending) }
        var kept: Set<Int> = []
        for (index, (key, place)) in sorted.enumerated() {
            let isFirst =
                index == 0
                || zip(sorted[index - 1].0, key).contains { Self.order($0, $1) != .equal }
            if isFirst { kept.insert(place) }
        }
        return rows.enumerated().filter { kept.contains($0.offset) }.map(\.element)
    }

    private func sorted<Object: QueryableObject>(
        _ rows: [Object],
        _ properties: [CheckedProperty],
        _ ascending: [Bool]
    ) -> [Object] {
        rows.enumerated().map { (values(of: properties, $1), $0) }
            .sorted { precedes($0, $1, ascending) }
            .map { rows[$0.1] }
    }

    /// Equal ones keep their places.
    private func precedes(
        _ left: ([QueryValue], Int),
        _ right: ([QueryValue], Int),
        _ ascending: [Bool]
    ) -> Bool {
        for (index, isAscending) in ascending.enumerated() {
            switch Self.order(left.0[index], right.0[index]) {
            case .less: return isAscending
            case .greater: return !isAscending
            case .equal: continue
            }
        }
        return left.1 < right.1
    }

    /// A total order: null first, then by type.
    private static func order(_ left: QueryValue, _ right: QueryValue) -> QueryOrder {
        if let order = MixedRules.order(left, right) { return order }
        return QueryOrder(left.rank, right.rank)
    }
}

extension QueryValue {
    fileprivate var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .float, .double, .decimal: 2
        case .string: 3
        case .binary: 4
        case .date: 5
        case .objectID: 6
        case .uuid: 7
        case .link: 8
        case .kinds: 9
        case .nested: 10
        }
    }
}
