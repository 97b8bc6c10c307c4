package import Changesets
import Documents
import Schemas

/// Replays unsynced changes on the server's state, one changeset after the other (client reset, 6.2
/// and 7).
///
/// What could be applied is recorded as new changesets, to be uploaded in place of the old ones.
/// After an error the recovery is of no further use.
package struct Recovery<Fresh: RealmReader, Local: RealmReader> {
    package private(set) var state: RecoveredState<Fresh>
    /// The realm as it was just before the reset.
    private let local: Local
    private var trackers: [ListPlace: ListTracker] = [:]
    package private(set) var discarded: [DiscardedChange] = []
    /// Instructions that were applied.
    package private(set) var recoveredCount = 0

    private var writer = ChangesetWriter()

    package init(fresh: Fresh, local: Local) {
        self.state = RecoveredState(over: fresh)
        self.local = local
    }

    /// Replays a changeset.
    ///
    /// - Returns: what was recorded, as a changeset of its own; empty if nothing of it is left.
    /// - Throws: a `ResetFailure` if it cannot be recovered, or what the readers throw.
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

    /// The schema's own comparison leaves nullability out, since a merge has compared it by then.
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
        if try !state.exists(object) {
            state.put(Document(defaultsOf: owner), for: object)
        }
        writer.createObject(object)
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

// MARK: Values

extension Recovery {
    private mutating func change(_ instruction: Instruction, _ changeset: Changeset) throws {
        guard let target = instruction.pathTarget else { return }
        let object = changeset.reference(target.object)
        // A link to the object itself is to one that exists, so look before it is taken out.
        let link = try missingLink(in: instruction, changeset)
        guard var document = try state.take(object) else {
            return discard(target, changeset, .objectIsGone)
        }
        defer { state.put(document, for: object) }
        let walk = try PathWalk.walk(
            target,
            of: changeset,
            in: document,
            state.schema,
            trackers: trackers
        )
        switch walk {
        case .discard(let reason):
            discard(target, changeset, reason)
        case .unknownElement(let place):
            trackers[place, default: ListTracker()].wantCopy()
        case .arrived(let walk, let acceptsNull):
            try change(
                instruction,
                changeset,
                walk,
                (link, acceptsNull),
                &document
            )
        }
    }

    /// The link that the instruction would store, if its target does not exist.
    private func missingLink(
        in instruction: Instruction,
        _ changeset: Changeset
    ) throws -> ObjectReference? {
        guard let payload = instruction.storedPayload,
            case .link(let link)? = changeset.scalar(payload), try !state.exists(link)
        else { return nil }
        return link
    }

    private mutating func change(
        _ instruction: Instruction,
        _ changeset: Changeset,
        _ walk: PathWalk,
        _ link: (missing: ObjectReference?, acceptsNull: Bool),
        _ document: inout Document
    ) throws {
        guard let target = instruction.pathTarget else { return }
        var walk = walk
        var instruction = instruction
        if link.missing != nil {
            guard case .update(var update) = instruction, link.acceptsNull else {
                skip(instruction, walk)
                return discard(target, changeset, .targetIsGone)
            }
            update.payload = .null
            instruction = .update(update)
        }
        var size: Int?
        switch walk.end {
        case .field(let isInteger):
            if case .addInteger = instruction, !isInteger {
                return discard(target, changeset, .notAnInteger)
            }
            forgetLists(replacedBy: instruction, at: target, changeset)
        case .member(let exists):
            if !exists {
                if case .update(let update) = instruction, update.payload == .erased {
                    return discard(target, changeset, .keyIsGone)
                }
                if case .clear(_, let collection) = instruction {
                    try makeCollection(collection, target, walk, changeset, &document)
                }
            }
            forgetLists(replacedBy: instruction, at: target, changeset)
        case .element(let count, let place):
            size = count
            if let place {
                guard let moved = track(instruction, place, &walk, count) else {
                    trackers[place, default: ListTracker()].wantCopy()
                    return
                }
                instruction = moved
            } else if !walk.clampIndex(of: instruction, size: count) {
                return discard(target, changeset, .valueHasChangedType)
            }
        }
        instruction = instruction.moved(to: walk.path, size: size.map { UInt32($0) })
        try apply(instruction, changeset, &document)
    }

    /// Counts an element that is in the local list only.
    private mutating func skip(_ instruction: Instruction, _ walk: PathWalk) {
        guard case .arrayInsert(let target, _, _) = instruction, let index = target.index,
            case .element(_, let place?) = walk.end
        else { return }
        trackers[place]?.skipInsert(at: index)
    }

    /// The instruction with its indexes as they are in the server's list; nil if they are not known.
    private mutating func track(
        _ instruction: Instruction,
        _ place: ListPlace,
        _ walk: inout PathWalk,
        _ size: Int
    ) -> Instruction? {
        var tracker = trackers[place] ?? ListTracker()
        guard !tracker.isCopied, let index = instruction.pathTarget?.index else { return nil }
        defer { trackers[place] = tracker }
        switch instruction {
        case .arrayInsert:
            walk.setLastIndex(tracker.insert(at: index, size: size))
            return instruction
        case .arrayErase:
            guard let fresh = tracker.erase(at: index) else { return nil }
            walk.setLastIndex(fresh)
            return instruction
        case .arrayMove(let target, let to, let priorSize):
            guard let moved = tracker.move(from: index, to: to) else { return nil }
            walk.setLastIndex(moved.from)
            return .arrayMove(target, to: moved.to, priorSize: priorSize)
        case .update, .clear, .addInteger:
            guard let fresh = tracker.freshIndex(of: index) else { return nil }
            walk.setLastIndex(fresh)
            return instruction
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn,
            .setInsert, .setErase:
            return instruction
        }
    }

    /// A list that is made anew, or emptied, holds nothing but what the recovery puts into it.
    private mutating func forgetLists(
        replacedBy instruction: Instruction,
        at target: Instruction.PathTarget,
        _ changeset: Changeset
    ) {
        switch instruction {
        case .clear: break
        case .update(let update):
            switch update.payload {
            case .objectValue, .list, .dictionary: return
            default: break
            }
        default: return
        }
        guard !trackers.isEmpty else { return }
        let (object, field, path) = changeset.place(target)
        guard let steps = path.names else { return }
        trackers = trackers.filter { place, _ in
            place.object != object || !place.isInside(field, steps)
        }
    }

    /// A collection under a key that the server has removed is there again once it is cleared.
    private mutating func makeCollection(
        _ collection: CollectionType,
        _ target: Instruction.PathTarget,
        _ walk: PathWalk,
        _ changeset: Changeset,
        _ document: inout Document
    ) throws {
        var target = target
        target.path = walk.path
        let payload: Payload = collection == .dictionary ? .dictionary : .list
        let update = Instruction.Update(
            target: target,
            payload: payload,
            detail: .isDefault(false)
        )
        try apply(.update(update), changeset, &document)
    }

    private mutating func apply(
        _ instruction: Instruction,
        _ changeset: Changeset,
        _ document: inout Document
    ) throws {
        guard let target = instruction.pathTarget else { return }
        var editor = InstructionEditor(schema: state.schema, strings: changeset.strings)
        let position = try editor.outline(of: instruction).position
        try editor.apply(instruction, to: &document.values[position])
        writer.write(instruction, of: changeset)
        recoveredCount += 1
        if let payload = instruction.storedPayload,
            case .link(let link)? = changeset.scalar(payload)
        {
            state.noteLink(from: changeset.reference(target.object), to: link)
        }
    }

    private mutating func discard(
        _ target: Instruction.PathTarget,
        _ changeset: Changeset,
        _ reason: DiscardedChange.Reason
    ) {
        discarded.append(
            DiscardedChange(
                object: changeset.reference(target.object),
                property: changeset.text(target.field),
                reason: reason
            )
        )
    }
}

// MARK: Lists as a whole

extension Recovery {
    /// Gives the lists whose changes cannot be placed the content they have in the local realm
    /// (client reset, 7.4).
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

    /// False if links are missing that may come with a later changeset; nil if the list is not there on
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

extension Instruction {
    var pathTarget: PathTarget? {
        switch self {
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn: nil
        case .update(let update): update.target
        case .addInteger(let target, _), .arrayInsert(let target, _, _),
            .arrayMove(let target, _, _), .arrayErase(let target, _), .clear(let target, _),
            .setInsert(let target, _):
            target
        case .setErase(let erase): erase.target
        }
    }

    /// The value that the instruction puts somewhere.
    fileprivate var storedPayload: Payload? {
        switch self {
        case .update(let update): update.payload
        case .arrayInsert(_, let payload, _), .setInsert(_, let payload): payload
        default: nil
        }
    }

    /// The same on another path, in a list of that size.
    fileprivate func moved(to path: [PathElement], size: UInt32?) -> Instruction {
        func move(_ target: PathTarget) -> PathTarget {
            PathTarget(object: target.object, field: target.field, path: path)
        }
        switch self {
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn:
            return self
        case .update(let update):
            let detail = size.map { Update.Detail.priorSize($0) } ?? update.detail
            return .update(
                Update(target: move(update.target), payload: update.payload, detail: detail)
            )
        case .addInteger(let target, let amount):
            return .addInteger(move(target), amount: amount)
        case .arrayInsert(let target, let payload, let old):
            return .arrayInsert(move(target), payload, priorSize: size ?? old)
        case .arrayMove(let target, let to, let old):
            return .arrayMove(move(target), to: to, priorSize: size ?? old)
        case .arrayErase(let target, let old):
            return .arrayErase(move(target), priorSize: size ?? old)
        case .clear(let target, let collection):
            return .clear(move(target), collection)
        case .setInsert(let target, let payload):
            return .setInsert(move(target), payload)
        case .setErase(let erase):
            return .setErase(
                SetErase(
                    target: move(erase.target),
                    payload: erase.payload,
                    bufferOffset: erase.bufferOffset
                )
            )
        }
    }
}
