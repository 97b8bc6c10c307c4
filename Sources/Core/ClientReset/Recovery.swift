package import Changesets
import Documents
import Schemas

/// Replays unsynced changes on the server's state, one changeset after the other (client reset, 6.2
/// and 7).
///
/// The changes that could be applied are recorded as new changesets, to be uploaded in place of the
/// old ones. After an error the recovery is not usable.
package struct Recovery<Fresh: RealmReader, Local: RealmReader> {
    package internal(set) var state: RecoveredState<Fresh>
    /// The realm as it was just before the reset.
    private let local: Local
    /// The value that recovered objects without it get; nil if they need no such value.
    private let partition: PartitionValue?
    var trackers: [ListPlace: ListTracker] = [:]
    package internal(set) var discarded: [DiscardedChange] = []
    /// Instructions that were applied.
    package internal(set) var recoveredCount = 0

    var writer = ChangesetWriter()

    /// - Parameter partition: the value that marks the objects of the realm's partition, in an app that has
    ///   changed to flexible sync.
    package init(fresh: Fresh, local: Local, partition: PartitionValue? = nil) {
        self.state = RecoveredState(over: fresh)
        self.local = local
        self.partition = partition
    }

    /// Replays a changeset.
    ///
    /// - Returns: the recorded changes, as a new changeset; empty if nothing is left.
    /// - Throws: a `ResetFailure` if it cannot be recovered, or an error of the readers.
    package mutating func replay(_ changeset: Changeset) throws -> [UInt8] {
        writer = ChangesetWriter()
        for (position, instruction) in changeset.instructions.enumerated() {
            do {
                try replay(instruction, of: changeset)
            } catch let error as BadInstruction {
                throw ResetFailure.impossibleChange(error.at(position))
            }
        }
        try copyLists()
        return writer.bytes
    }

    private mutating func replay(
        _ instruction: Instruction,
        of changeset: Changeset
    ) throws {
        switch instruction {
        case .addTable(let table):
            try state.apply(instruction, strings: changeset.strings)
            writer.write(table, of: changeset)
        case .addColumn(let column):
            try checkNullability(of: column, changeset)
            try state.apply(instruction, strings: changeset.strings)
            writer.write(column, of: changeset)
        case .eraseTable(let name):
            throw ResetFailure.eraseOfClass(changeset.text(name))
        case .eraseColumn(let className, let field):
            let className = changeset.text(className)
            throw ResetFailure.eraseOfProperty(changeset.text(field), in: className)
        case .createObject(let target):
            try create(changeset.reference(target))
        case .eraseObject(let target):
            try erase(changeset.reference(target))
        case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert,
            .setErase:
            try change(instruction, changeset)
            return
        }
        recoveredCount += 1
    }

    /// The schema's own comparison ignores nullability, since a merge has compared it by then.
    private func checkNullability(
        of column: Instruction.AddColumn,
        _ changeset: Changeset
    ) throws {
        let owner = state.schema[changeset.text(column.className)]
        guard let known = owner?.property(named: changeset.text(column.field)),
            known.type != .mixed, column.type != .link
        else { return }
        guard known.isNullable != column.isNullable else { return }
        let definition = state.schema.definition(of: known)
        throw ResetFailure.schemaConflict([
            SchemaConflict(
                className: changeset.text(column.className),
                property: known.name,
                existing: column.isNullable ? "nullable" : "required",
                declared: definition
            )
        ])
    }

    // MARK: Objects

    private mutating func create(_ object: ObjectReference) throws {
        guard let owner = state.schema[object.className], let key = owner.primaryKey else {
            throw BadInstruction(.unknownClass(object.className))
        }
        guard key.accepts(object.key) else { throw BadInstruction(.wrongKeyType(owner.name)) }
        guard try !state.exists(object) else {
            writer.createObject(object)
            return
        }
        var document = Document(defaultsOf: owner)
        writer.createObject(object)
        if let partition, let position = partition.position(in: owner) {
            document.values[position] = .scalar(partition.value)
            writer.update(object, partition.property, to: .scalar(partition.value))
        }
        state.put(document, for: object)
    }

    private mutating func erase(_ object: ObjectReference) throws {
        trackers = trackers.filter { $0.key.object != object }
        guard try state.exists(object) else { return }
        for referrer in try state.referrers(to: object) where referrer != object {
            guard var document = try state.take(referrer) else { continue }
            var removal = LinkRemoval(of: object, from: referrer, state.schema, writer)
            removal.run(&document)
            state.put(document, for: referrer)
            writer = removal.writer
            for (place, index) in removal.lost { trackers[place]?.lose(fresh: index) }
        }
        state.put(nil, for: object)
        writer.eraseObject(object)
    }
}

// MARK: Lists as a whole

extension Recovery {
    /// Copies the lists whose changes cannot be located from the local realm (client reset, 7.4).
    private mutating func copyLists() throws {
        let places = trackers.filter { $0.value.copy == .wanted }.keys.sorted { $0.precedes($1) }
        for place in places {
            let isComplete = try copyList(at: place)
            if isComplete == nil {
                discarded.append(
                    DiscardedChange(
                        object: place.object,
                        property: place.field,
                        reason: .listIsNotThere
                    )
                )
            }
            trackers[place]?.finishCopy(isComplete: isComplete ?? true)
        }
    }

    /// False if links are missing that a later changeset may add; nil if the list does not exist on
    /// both sides.
    private mutating func copyList(at place: ListPlace) throws -> Bool? {
        guard let localDocument = try local.document(for: place.object),
            let source = ListLookup(place, local.schema).list(in: localDocument)
        else { return nil }
        let lookup = ListLookup(place, state.schema)
        guard var document = try state.document(for: place.object) else { return nil }
        let (before, schema) = (state, state.schema)
        var copy = ValueCopy(place.object, place.field, schema, writer) { try before.exists($0) }
        let shape = DocumentShape(from: local.schema, to: schema)
        let isFound = try lookup.edit(&document) { elements, property in
            let source = source.map { shape.convert($0, of: property) }
            try copy.copyList(
                source,
                over: &elements,
                property,
                at: place.steps.map { .string($0) }
            )
        }
        guard isFound else { return nil }
        state.put(document, for: place.object)
        writer = copy.writer
        for link in copy.writtenLinks { state.noteLink(from: place.object, to: link) }
        return copy.missingLinks == 0
    }
}
