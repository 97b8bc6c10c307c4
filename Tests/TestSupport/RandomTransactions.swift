package import Changesets
package import Documents
import Schemas

/// Makes transactions that fit the state of a realm, as an application on one of several peers would:
/// objects, all kinds of properties, embedded objects, nested collections, new classes and columns.
///
/// It leaves out what is known not to converge (merge rules, 8), by name: lists of embedded objects or
/// of Mixed are not reordered (N-MOVE); a collection at a list index is not cleared (N-CLEAR), nor is
/// one at a dictionary key (which cannot be applied where an older erasure has removed the key); a
/// collection that a peer may have just created in a Mixed value is not replaced, and among more than
/// two peers `MixedUse` applies (M-PASS); a dictionary key gets an embedded object from one peer only
/// (E-DICT); strings are not erased from sets (S-RAW); columns are not erased (MIXCOL); no default goes
/// to a Mixed value (DEF-NEST).
package struct RandomTransactions {
    var random: SplitMix64
    let peer: Int
    /// The state that all peers last had in common. A collection in it may be replaced, but not be
    /// created again: no peer does both to one value.
    private let settled: InMemoryRealm
    /// The properties to change; the fewer there are, the more conflicts.
    private let focus: Set<Text>
    let mixedUse: MixedUse

    /// The Mixed values that peers may write at the same time.
    package enum MixedUse: CaseIterable, Sendable {
        /// Anything.
        ///
        /// With three peers that does not converge (M-PASS): two create the same collection, which both
        /// keep, and the third writes a scalar in between.
        case free
        /// Collections are created by the first peer only.
        case oneCreator
        /// New values are lists.
        case lists
        /// New values are dictionaries.
        case dictionaries
    }

    /// - Parameters:
    ///   - peer: a number from 0 to 3 that no other peer has.
    ///   - focus: names of properties; all properties, if none is named.
    package init(
        seed: UInt64,
        peer: Int,
        settled: InMemoryRealm,
        focus: Set<Text> = [],
        mixedUse: MixedUse = .oneCreator
    ) {
        self.random = SplitMix64(seed: seed)
        self.peer = peer
        self.settled = settled
        self.focus = focus
        self.mixedUse = mixedUse
    }

    /// A transaction of up to four changes, and the realm afterwards.
    package mutating func transaction(
        on realm: InMemoryRealm
    ) throws -> (changeset: Changeset, result: InMemoryRealm) {
        var draft = TransactionDraft(realm: realm)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            if chance(40) {
                try extendSchema(&draft)
            } else {
                try changeObject(&draft)
            }
        }
        return (try draft.changeset(), draft.realm)
    }

    /// A place inside an object, and how to write to it.
    struct Place {
        let object: ObjectReference
        let field: Text
        var path: [ChangesetWriter.Step] = []
        /// The size of the list, if the path ends in an index.
        var priorSize: UInt32?

        func inside(_ name: Text) -> Place {
            Place(object: object, field: field, path: path + [.string(name)])
        }

        func inside(_ index: Int, of size: Int) -> Place {
            Place(
                object: object,
                field: field,
                path: path + [.index(UInt32(index))],
                priorSize: UInt32(size)
            )
        }

        func write(_ content: ChangesetWriter.Content, to writer: inout ChangesetWriter) {
            if let priorSize {
                writer.updateElement(object, field, path: path, to: content, priorSize: priorSize)
            } else {
                writer.update(object, field, path: path, to: content)
            }
        }
    }

    /// The value at a place when all peers last agreed; nil if it is unknown, because a list index
    /// on the path may have shifted.
    func settledValue(at place: Place) -> Value? {
        guard var schema = settled.schema[place.object.className],
            var value = settled.value(place.field, of: place.object),
            var property = schema.property(named: place.field)
        else { return nil }
        for step in place.path {
            guard case .string(let name) = step else { return nil }
            switch value {
            case .dictionary(let members):
                guard let member = members[name] else { return nil }
                value = member
            case .object(let document):
                guard case .link(let target) = property.type,
                    let embedded = settled.schema[target],
                    let inner = embedded.property(named: name),
                    let member = document.value(of: name, in: embedded)
                else { return nil }
                (schema, property, value) = (embedded, inner, member)
            case .scalar, .list, .set:
                return nil
            }
        }
        return value
    }
}

// MARK: Objects

extension RandomTransactions {
    private mutating func changeObject(_ draft: inout TransactionDraft) throws {
        let classes = draft.realm.schema.classes.filter { !$0.isEmbedded }
        let schema = chance(6) ? pick(classes) : classes[0]
        let key = chance(4) ? below(4) : 0
        let object = ObjectReference(className: schema.name, key: .int(Int64(key)))
        guard let document = draft.realm.document(for: object) else {
            return try create(object, schema, &draft)
        }
        if chance(15) {
            try draft.perform { $0.eraseObject(object) }
            if chance(2) { try create(object, schema, &draft) }
            return
        }
        let positions = schema.properties.indices.filter {
            focus.isEmpty || focus.contains(schema.properties[$0].name)
        }
        guard let position = positions.randomElement(using: &random) else { return }
        try change(
            schema.properties[position],
            document.values[position],
            at: Place(object: object, field: schema.properties[position].name),
            &draft
        )
    }

    private mutating func create(
        _ object: ObjectReference,
        _ schema: ClassSchema,
        _ draft: inout TransactionDraft
    ) throws {
        try draft.perform { $0.createObject(object) }
        for property in schema.properties where property.type == .int && chance(3) {
            guard property.collection == .single else { continue }
            let number = Int64(below(100))
            let isDefault = chance(2)
            try draft.perform {
                $0.update(object, property.name, to: .scalar(.int(number)), isDefault: isDefault)
            }
        }
    }

    /// Adds a class or a column that others may add too, in the same form.
    private mutating func extendSchema(_ draft: inout TransactionDraft) throws {
        let number = below(3)
        let className = Text("Extra\(number)")
        let column = Text("p\(number)")
        if draft.realm.schema[className] == nil {
            try draft.perform {
                $0.addTopLevelClass(
                    className,
                    primaryKey: "_id",
                    type: .int,
                    isNullable: false
                )
                $0.addColumn(
                    "link",
                    to: className,
                    type: .link,
                    isNullable: true,
                    collection: .single,
                    linkTarget: "Thing"
                )
            }
        } else if draft.realm.schema["Thing"]?.property(named: column) == nil {
            try draft.perform {
                $0.addColumn(
                    column,
                    to: "Thing",
                    type: .int,
                    isNullable: true,
                    collection: .single
                )
            }
        }
    }

    /// Changes what a property holds, or something inside it.
    mutating func change(
        _ property: PropertySchema,
        _ value: Value,
        at place: Place,
        _ draft: inout TransactionDraft
    ) throws {
        switch value {
        case .list(let elements) where property.collection == .list:
            try changeList(elements, of: property, at: place, &draft)
        case .dictionary(let members) where property.collection == .dictionary:
            try changeDictionary(members, of: property, at: place, &draft)
        case .set(let elements):
            try changeSet(elements, of: property, at: place, &draft)
        default:
            try changeSlot(value, of: property, at: place, &draft)
        }
    }
}

// MARK: Chance

extension RandomTransactions {
    mutating func below(_ limit: Int) -> Int {
        Int.random(in: 0..<limit, using: &random)
    }

    /// True once in so many times.
    mutating func chance(_ times: Int) -> Bool {
        below(times) == 0
    }

    mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[below(choices.count)]
    }
}
