import Changesets
import Schemas

/// Conditions on single fields, one of which every object in a view fulfils.
enum ViewAnchors: Hashable, Sendable {
    /// There is no such list: the view is a candidate of every change.
    case scan
    /// Empty: no object is in the view.
    case any(Set<Anchor>)

    struct Anchor: Hashable, Sendable {
        let field: QueryField
        let range: IndexedRange
    }

    /// More alternatives would take more memory than the scan takes time.
    private static let mostAnchors = 256
    /// Deeper conditions are scanned.
    private static let deepestNesting = 12

    init(_ query: CheckedQuery) {
        let outline = QueryOutline(query)
        self = Self.anchors(of: outline.root, outline, isNegated: false, depth: 0)
        if case .any(let anchors) = self, anchors.count > Self.mostAnchors { self = .scan }
    }

    private static func anchors(
        of node: Int,
        _ outline: QueryOutline,
        isNegated: Bool,
        depth: Int
    ) -> ViewAnchors {
        guard depth < deepestNesting else { return .scan }
        func parts(_ nodes: [Int]) -> [ViewAnchors] {
            nodes.map { anchors(of: $0, outline, isNegated: isNegated, depth: depth + 1) }
        }
        switch outline.nodes[node] {
        case .truth(let isTrue): return isTrue != isNegated ? .scan : .any([])
        case .not(let part):
            return anchors(of: part, outline, isNegated: !isNegated, depth: depth + 1)
        case .all(let nodes): return isNegated ? union(parts(nodes)) : narrowest(parts(nodes))
        case .any(let nodes): return isNegated ? narrowest(parts(nodes)) : union(parts(nodes))
        case .comparison(let comparison): return anchors(of: comparison, isNegated: isNegated)
        case .opaque: return .scan
        }
    }

    /// Of alternatives.
    private static func union(_ parts: [ViewAnchors]) -> ViewAnchors {
        var all: Set<Anchor> = []
        for part in parts {
            guard case .any(let anchors) = part else { return .scan }
            all.formUnion(anchors)
        }
        return .any(all)
    }

    /// Of conditions that must all hold: points before intervals, few before many. Intervals of one
    /// field with one value are joined.
    private static func narrowest(_ parts: [ViewAnchors]) -> ViewAnchors {
        var best: ViewAnchors = .scan
        var intervals: [QueryField: Interval<IndexedValue>] = [:]
        for part in parts {
            if part.cost < best.cost { best = part }
            guard case .any(let anchors) = part, anchors.count == 1, let anchor = anchors.first,
                anchor.field.collection == .single, case .interval(let interval) = anchor.range
            else { continue }
            guard let known = intervals[anchor.field] else {
                intervals[anchor.field] = interval
                continue
            }
            guard let joined = known.intersection(interval) else { return .any([]) }
            intervals[anchor.field] = joined
            let joint = ViewAnchors.any([Anchor(field: anchor.field, range: .interval(joined))])
            if joint.cost <= best.cost { best = joint }
        }
        return best
    }

    private var cost: Int {
        switch self {
        case .scan: .max
        case .any(let anchors):
            anchors.reduce(0) { cost, anchor in
                switch anchor.range {
                case .point: cost + 1
                case .interval(let interval):
                    cost + (interval.lower == nil || interval.upper == nil ? 100_000 : 10_000)
                }
            }
        }
    }

    private static func anchors(
        of comparison: OutlinedComparison,
        isNegated: Bool
    ) -> ViewAnchors {
        switch comparison.subject {
        case .value: break
        case .elements(.any) where !isNegated: break
        case .elements, .count: return .scan
        }
        guard !comparison.ignoresCase else { return .scan }
        let field = comparison.field
        let values = comparison.constants.map { IndexedValue($0, of: field.type) }
        guard !values.isEmpty, !values.contains(nil) else { return .scan }
        let known = values.compactMap(\.self)
        func anchor(_ range: IndexedRange) -> ViewAnchors {
            .any([Anchor(field: field, range: range)])
        }
        switch (comparison.operation, isNegated) {
        case (.equal, false), (.in, false), (.notEqual, true):
            return .any(Set(known.map { Anchor(field: field, range: .point($0)) }))
        case (.less, false), (.lessOrEqual, false):
            guard known[0].hasOrder else { return .scan }
            return anchor(.interval(Interval(lower: nil, upper: known[0])))
        case (.greater, false), (.greaterOrEqual, false):
            guard known[0].hasOrder else { return .scan }
            return anchor(.interval(Interval(lower: known[0], upper: nil)))
        case (.equal, true), (.in, true), (.notEqual, false), (.less, true), (.lessOrEqual, true),
            (.greater, true), (.greaterOrEqual, true), (.beginsWith, _), (.endsWith, _),
            (.contains, _), (.like, _), (.text, _):
            return .scan
        }
    }
}

extension IndexedValue {
    /// Comparisons with NULL, with a boolean and with NaN have rules of their own.
    fileprivate var hasOrder: Bool {
        switch self {
        case .null, .bool, .notANumber: false
        case .int, .double, .bytes, .date: true
        }
    }
}
