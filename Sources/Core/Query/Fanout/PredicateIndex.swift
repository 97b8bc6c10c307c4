package import Changesets
import Documents
import Schemas

/// Finds the views that a change of an object may concern, without evaluating all of them (flexible
/// sync, 13.4).
///
/// Views with equal queries are one entry. A view whose query pins a field to constants, or to a
/// range, in each of its alternatives is found by the field's value. All others are candidates of
/// every change of their class.
package struct PredicateIndex<Session: Hashable & Sendable>: Sendable {
    private var views: [ViewID: View] = [:]
    private var ids: [CheckedQuery: ViewID] = [:]
    private var queries: [Key: CheckedQuery] = [:]
    private var classes: [Text: ClassPredicates] = [:]
    private var nextID = 0

    /// A session has at most one view of a class.
    private struct Key: Hashable {
        let session: Session
        let className: Text
    }

    /// Equal queries of several sessions.
    package struct View: Sendable {
        package let evaluator: QueryEvaluator
        /// Never empty.
        package fileprivate(set) var sessions: Set<Session>
    }

    package init() {}

    /// Replaces the session's view of the query's class.
    package mutating func insert(_ query: CheckedQuery, of session: Session) {
        let key = Key(session: session, className: query.className)
        guard queries[key] != query else { return }
        remove(session, from: query.className)
        queries[key] = query
        if let id = ids[query] {
            views[id]?.sessions.insert(session)
            return
        }
        let id = ViewID(nextID)
        nextID += 1
        ids[query] = id
        views[id] = View(evaluator: QueryEvaluator(query), sessions: [session])
        classes[query.className, default: ClassPredicates()].insert(id, ViewAnchors(query))
    }

    /// Removes the session's view of a class, if it has one.
    package mutating func remove(_ session: Session, from className: Text) {
        let key = Key(session: session, className: className)
        guard let query = queries.removeValue(forKey: key), let id = ids[query] else { return }
        views[id]?.sessions.remove(session)
        guard views[id]?.sessions.isEmpty == true else { return }
        views[id] = nil
        ids[query] = nil
        classes[className]?.remove(id, ViewAnchors(query))
        if classes[className]?.isEmpty == true { classes[className] = nil }
    }

    package var isEmpty: Bool { views.isEmpty }

    /// The views that may contain one of the images of an object, in order of arrival. Includes all
    /// that do; the evaluator of each decides.
    ///
    /// - Parameter images: the object before and after a change, as far as it exists.
    package func candidates(
        for images: [some QueryableObject],
        of className: Text
    ) -> [View] {
        guard let predicates = classes[className] else { return [] }
        var ids = predicates.scanned
        for image in images { predicates.find(image, &ids) }
        return ids.sorted().compactMap { views[$0] }
    }
}

/// Numbers views by their arrival.
struct ViewID: Hashable, Comparable {
    private let number: Int

    init(_ number: Int) { self.number = number }

    static func < (left: ViewID, right: ViewID) -> Bool { left.number < right.number }
}

/// The views of one class.
struct ClassPredicates: Sendable {
    /// Candidates of every change.
    private(set) var scanned: Set<ViewID> = []
    private var fields: [QueryField: FieldPredicates] = [:]

    var isEmpty: Bool { scanned.isEmpty && fields.isEmpty }

    mutating func insert(_ view: ViewID, _ anchors: ViewAnchors) {
        switch anchors {
        case .scan: scanned.insert(view)
        case .any(let anchors):
            for anchor in anchors {
                fields[anchor.field, default: FieldPredicates()].insert(view, anchor.range)
            }
        }
    }

    mutating func remove(_ view: ViewID, _ anchors: ViewAnchors) {
        switch anchors {
        case .scan: scanned.remove(view)
        case .any(let anchors):
            for anchor in anchors {
                fields[anchor.field]?.remove(view, anchor.range)
                if fields[anchor.field]?.isEmpty == true { fields[anchor.field] = nil }
            }
        }
    }

    func find(_ image: some QueryableObject, _ views: inout Set<ViewID>) {
        for (field, predicates) in fields {
            switch image.value(of: field) {
            case .scalar(let scalar): predicates.find(QueryValue(scalar), field, &views)
            case .list(let elements):
                for case .scalar(let scalar) in elements {
                    predicates.find(QueryValue(scalar), field, &views)
                }
            case .set(let set):
                for scalar in set.elements {
                    predicates.find(QueryValue(scalar), field, &views)
                }
            case .dictionary, .object: continue
            }
        }
    }
}

/// The views that pin one field.
struct FieldPredicates: Sendable {
    private var points: [IndexedValue: Set<ViewID>] = [:]
    private var intervals = IntervalForest<IndexedValue, ViewID>()

    var isEmpty: Bool { points.isEmpty && intervals.isEmpty }

    mutating func insert(_ view: ViewID, _ range: IndexedRange) {
        switch range {
        case .point(let value): points[value, default: []].insert(view)
        case .interval(let interval): intervals.insert(interval, view)
        }
    }

    mutating func remove(_ view: ViewID, _ range: IndexedRange) {
        switch range {
        case .point(let value):
            points[value]?.remove(view)
            if points[value]?.isEmpty == true { points[value] = nil }
        case .interval(let interval): intervals.remove(interval, view)
        }
    }

    func find(_ value: QueryValue, _ field: QueryField, _ views: inout Set<ViewID>) {
        guard let value = IndexedValue(value, of: field.type) else { return }
        if let found = points[value] { views.formUnion(found) }
        // Only among strings is null less than a value (query as recorded, 2).
        if value != .null || field.type == .string { intervals.find(value) { views.insert($0) } }
    }
}
