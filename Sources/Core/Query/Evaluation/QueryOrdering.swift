/// Applies SORT, DISTINCT and LIMIT to matching objects, in the order of the text. Subscriptions
/// may not use them.
package struct QueryOrdering {
    private let query: CheckedQuery

    package init(_ query: CheckedQuery) {
        self.query = query
    }

    /// - Parameter objects: the matching ones, in the order of the class.
    package func arrange<Object: QueryableObject>(_ objects: [Object]) -> [Object] {
        var rows = objects
        for ordering in query.ordering {
            switch ordering {
            case .limit(let count):
                rows = Array(rows.prefix(count))
            case .distinct(let properties):
                rows = distinct(rows, properties)
            case .sort(let properties, let ascending):
                rows = sorted(rows, properties, ascending)
            }
        }
        return rows
    }

    private func values(
        of properties: [CheckedProperty],
        _ object: some QueryableObject
    ) -> [QueryValue?] {
        properties.map { property in
            let reader = PropertyReader(property)
            if !property.hops.isEmpty, reader.objects(object).isEmpty { return nil }
            return reader.read(object).values.first ?? .null
        }
    }

    private func distinct<Object: QueryableObject>(
        _ rows: [Object],
        _ properties: [CheckedProperty]
    ) -> [Object] {
        // An object is dropped if no link leads to the property.
        let keyed = rows.enumerated().map { (values(of: properties, $1), $0) }
            .filter { !$0.0.contains(nil) }
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

    /// Equal ones keep their order.
    private func precedes(
        _ left: ([QueryValue?], Int),
        _ right: ([QueryValue?], Int),
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

    /// A total order: null first, then by type, and missing links last.
    private static func order(_ left: QueryValue?, _ right: QueryValue?) -> QueryOrder {
        guard let left, let right else {
            return QueryOrder(left == nil ? 1 : 0, right == nil ? 1 : 0)
        }
        return MixedRules.totalOrder(left, right)
    }
}
