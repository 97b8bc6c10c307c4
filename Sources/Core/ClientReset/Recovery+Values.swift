import Changesets
import Documents
import Schemas

/// Changes to the values of objects (client reset, 7.2 and 7.3).
extension Recovery {
    mutating func change(_ instruction: Instruction, _ changeset: Changeset) throws {
        guard let target = instruction.pathTarget else { return }
        let object = changeset.reference(target.object)
        // A link to the object itself has an existing target, so check before it is taken out.
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

    /// Counts an element that is only in the local list.
    private mutating func skip(_ instruction: Instruction, _ walk: PathWalk) {
        guard case .arrayInsert(let target, _, _) = instruction, let index = target.index,
            case .element(_, let place?) = walk.end
        else { return }
        trackers[place]?.skipInsert(at: index)
    }

    /// The instruction with its indexes in the server's list; nil if they are not known.
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

    /// A recreated or emptied list contains only what the recovery puts into it.
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

    /// Clearing recreates a collection under a key that the server has removed.
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
        let before = document.values[position]
        try editor.apply(instruction, to: &document.values[position])
        if case .setErase(let erase) = instruction, erase.payload == .null,
            let set = try editor.typedSet(at: erase.target, in: before)
        {
            let (object, field, path) = changeset.place(erase.target)
            writer.edit(
                set: object,
                field,
                path: path,
                erasing: [.null],
                inserting: [],
                result: ValueSet(set.elements.filter { $0 != .null }),
                isMixed: false
            )
        } else {
            writer.write(instruction, of: changeset)
        }
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
