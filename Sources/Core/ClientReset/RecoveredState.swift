package import Changesets
package import Documents
package import Schemas

/// The server's state with recovered changes applied to it; the state below is only read.
package struct RecoveredState<Fresh: RealmReader> {
    private let fresh: Fresh
    private let freshSchema: RealmSchema
    package private(set) var schema: RealmSchema
    /// The differences from the state below, actual or possible: new values, or nil for a deleted
    /// object.
    package private(set) var changes: [ObjectReference: Document?] = [:]
    /// The objects that got a link to an object during the recovery, and may still have it.
    private var newReferrers: [ObjectReference: Set<ObjectReference>] = [:]

    package init(over fresh: Fresh) {
        self.fresh = fresh
        self.freshSchema = fresh.schema
        self.schema = fresh.schema
    }

    package func document(for object: ObjectReference) throws -> Document? {
        if let change = changes[object] { return change }
        return try fresh.document(for: object).map {
            DocumentShape(from: freshSchema, to: schema).convert($0, of: object.className)
        }
    }

    func exists(_ object: ObjectReference) throws -> Bool {
        try document(for: object) != nil
    }

    /// Takes the document out, so that it is edited in place; put it back afterwards.
    mutating func take(_ object: ObjectReference) throws -> Document? {
        guard let change = changes.updateValue(nil, forKey: object) else {
            return try fresh.document(for: object).map {
                DocumentShape(from: freshSchema, to: schema).convert($0, of: object.className)
            }
        }
        return change
    }

    mutating func put(_ document: Document?, for object: ObjectReference) {
        changes.updateValue(document, forKey: object)
    }

    /// Records that an object may link to another from now on.
    mutating func noteLink(from referrer: ObjectReference, to target: ObjectReference) {
        newReferrers[target, default: []].insert(referrer)
    }

    /// Objects that may link to that one, in a deterministic order.
    func referrers(to object: ObjectReference) throws -> [ObjectReference] {
        var referrers = newReferrers[object] ?? []
        referrers.formUnion(try fresh.referrers(to: object))
        return referrers.sorted { $0.precedes($1) }
    }

    /// Adds a class or a property, unless it already exists.
    mutating func apply(
        _ instruction: Instruction,
        strings: StringTable
    ) throws(BadInstruction) {
        let before = schema
        guard try schema.apply(instruction, strings: strings) != nil else { return }
        let shape = DocumentShape(from: before, to: schema)
        for (object, document) in changes {
            guard let document else { continue }
            changes[object] = shape.convert(document, of: object.className)
        }
    }
}

extension ObjectReference {
    /// An arbitrary order that is deterministic.
    func precedes(_ other: ObjectReference) -> Bool {
        Scalar.link(self).readingOrder(to: .link(other)) == .ascending
    }
}
