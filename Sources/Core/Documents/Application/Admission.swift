package import Changesets
package import Schemas

/// Handles uploaded instructions that do not fit the server's state (instruction semantics, 4; sync
/// history, 14.6).
///
/// A client may, correctly by its own rules, send changes to an object, an element or a list that
/// differ on the server. They are left out, and the client is told the server's state. An
/// instruction that does not fit any state is refused all the same.
package struct Admission {
    /// An object whose changes were left out.
    package struct Misfit: Hashable, Sendable {
        package let object: ObjectReference
        /// Of the first instruction that was left out.
        package let problem: BadInstruction.Problem
        /// Position of its changeset among the admitted ones.
        package let changeset: Int
        /// Instructions that were left out.
        package fileprivate(set) var count: Int
        /// Whether one of them had a value for an existing object, and the server's property lacks
        /// that value.
        package fileprivate(set) var losesData: Bool
        /// The properties of an existing object whose changes were left out.
        package fileprivate(set) var fields: [Text]
        /// Whether changes were left out while the object did not exist.
        package fileprivate(set) var wasMissing: Bool
    }

    /// In order of occurrence.
    package private(set) var misfits: [Misfit] = []
    private var positions: [ObjectReference: Int] = [:]
    /// Properties whose positions the client counts differently from here on.
    private var unclear: Set<Place> = []
    private var changesetCount = 0
    /// The instructions that other clients get instead of those of the current changeset.
    private var replacements: [(position: Int, instructions: [Instruction])] = []
    private var replacementSizeInBytes = 0

    /// The limit on sets written out for other clients, over all changesets of an upload.
    private let replacementLimitInBytes: Int
    /// Whether values may put lists and dictionaries into mixed properties.
    let allowsCollectionsInMixed: Bool

    private struct Place: Hashable {
        let object: ObjectReference
        let field: Text
    }

    package init(
        replacementLimitInBytes: Int = 32 << 20,
        allowsCollectionsInMixed: Bool = true
    ) {
        self.replacementLimitInBytes = replacementLimitInBytes
        self.allowsCollectionsInMixed = allowsCollectionsInMixed
    }
}

// MARK: Changeset by changeset

extension Admission {
    mutating func begin() {
        replacements = []
    }

    /// Whether all of the current changeset was admitted as it is.
    package var leftChangesetAlone: Bool { replacements.isEmpty }

    /// The admitted part of the changeset.
    mutating func finish(_ changeset: Changeset) -> Changeset {
        changesetCount += 1
        guard !replacements.isEmpty else { return changeset }
        var instructions: [Instruction] = []
        instructions.reserveCapacity(changeset.instructions.count)
        var start = 0
        for replacement in replacements {
            instructions += changeset.instructions[start..<replacement.position]
            instructions += replacement.instructions
            start = replacement.position + 1
        }
        instructions += changeset.instructions[start...]
        return Changeset(strings: changeset.strings, instructions: instructions)
    }

    /// Admits a changeset as it is, which is applied elsewhere.
    package mutating func admitWhole() {
        begin()
        changesetCount += 1
    }

    /// Whether every path still means what the client meant.
    package var isClearThroughout: Bool { unclear.isEmpty }

    /// Whether the instruction's path can still mean what the client meant.
    mutating func isClear(_ instruction: Instruction, of changeset: Changeset) -> Bool {
        guard !unclear.isEmpty, let target = instruction.objectTarget else { return true }
        let object = changeset.reference(target)
        guard let path = instruction.pathTarget else {
            if case .eraseObject = instruction {
                unclear = unclear.filter { $0.object != object }
            }
            return true
        }
        let place = Place(object: object, field: changeset.text(path.field))
        guard unclear.contains(place) else { return true }
        guard path.path.isEmpty, instruction.replacesWhatIsThere else { return false }
        unclear.remove(place)
        return true
    }

    /// Leaves out the instruction at a position. `value` is the property's value; nil if its object
    /// does not exist.
    mutating func leaveOut(
        _ position: Int,
        of changeset: Changeset,
        because problem: BadInstruction.Problem,
        value: Value?
    ) {
        replacements.append((position, []))
        let instruction = changeset.instructions[position]
        guard let target = instruction.objectTarget else { return }
        let object = changeset.reference(target)
        var field: Text?
        if let path = instruction.pathTarget, value != nil {
            let name = changeset.text(path.field)
            unclear.insert(Place(object: object, field: name))
            field = name
        }
        let losesData =
            value.map {
                problem == .collectionInMixed
                    || instruction.carriesValue(missingIn: $0, changeset)
            } ?? false
        note(object, field, problem, in: changesetCount, count: 1, losesData: losesData)
    }

    private mutating func note(
        _ object: ObjectReference,
        _ field: Text?,
        _ problem: BadInstruction.Problem,
        in changeset: Int,
        count: Int,
        losesData: Bool
    ) {
        let position = positions[object] ?? misfits.count
        if position == misfits.count {
            positions[object] = position
            misfits.append(
                Misfit(
                    object: object,
                    problem: problem,
                    changeset: changeset,
                    count: 0,
                    losesData: false,
                    fields: [],
                    wasMissing: false
                )
            )
        }
        misfits[position].count += count
        misfits[position].losesData = misfits[position].losesData || losesData
        guard let field else { return misfits[position].wasMissing = true }
        if !misfits[position].fields.contains(field) { misfits[position].fields.append(field) }
    }

    /// Drops every change of an instruction's property from changesets that cannot be merged
    /// because of it. `first` is the position of the first changeset among those of the upload.
    package mutating func drop(
        _ culprit: Instruction,
        of changeset: Changeset,
        from changesets: inout [Changeset],
        first: Int
    ) {
        guard let path = culprit.pathTarget else { return }
        let place = Place(
            object: changeset.reference(path.object),
            field: changeset.text(path.field)
        )
        for index in changesets.indices {
            let own = changesets[index]
            let dropped = own.instructions.filter {
                own.isChange(at: place.object, place.field, $0)
            }
            guard !dropped.isEmpty else { continue }
            changesets[index].instructions.removeAll {
                own.isChange(at: place.object, place.field, $0)
            }
            note(
                place.object,
                place.field,
                .impossibleMerge,
                in: first + index,
                count: dropped.count,
                // The server's state is not known yet.
                losesData: dropped.contains { $0.carriesValue(missingIn: .null, own) }
            )
        }
    }

    /// Drops the changes of some objects from changesets that they would make too large. `first` is
    /// the position of the first changeset among those of the upload.
    package mutating func bar(
        _ objects: Set<ObjectReference>,
        from changesets: inout [Changeset],
        first: Int
    ) {
        guard !objects.isEmpty else { return }
        for index in changesets.indices {
            let own = changesets[index]
            changesets[index].instructions.removeAll { instruction in
                guard let target = instruction.objectTarget else { return false }
                let object = own.reference(target)
                guard objects.contains(object) else { return false }
                if case .createObject = instruction { return true }
                guard let path = instruction.pathTarget else { return false }
                note(
                    object,
                    own.text(path.field),
                    .objectTooLarge,
                    in: first + index,
                    count: 1,
                    losesData: instruction.carriesValue(missingIn: .null, own)
                )
                return true
            }
        }
    }

    /// Replaces the instruction at the position by these for other clients.
    mutating func replace(
        _ position: Int,
        by instructions: [Instruction],
        sizeInBytes: Int
    ) throws(BadInstruction) {
        replacementSizeInBytes += sizeInBytes
        guard replacementSizeInBytes <= replacementLimitInBytes else {
            throw BadInstruction(.setsTooLarge(limitInBytes: replacementLimitInBytes))
        }
        replacements.append((position, instructions))
    }
}

extension BadInstruction.Problem {
    /// Whether another state of the property could take the instruction. Typed properties refuse a wrong
    /// type in every state; Mixed and embedded objects do not.
    func dependsOnState(ofOpenProperty isOpen: Bool) -> Bool {
        switch self {
        case .missingObject, .indexOutOfRange, .missingKey, .wrongPriorSize: true
        case .deadEnd, .expectedIndex, .expectedKey, .notAnInteger: isOpen
        default: false
        }
    }
}

extension Instruction {
    /// Whether the property's old value does not matter any more.
    fileprivate var replacesWhatIsThere: Bool {
        switch self {
        case .clear: return true
        case .update(let update):
            switch update.payload {
            case .objectValue, .list, .dictionary, .set, .erased: return false
            default: return true
            }
        default: return false
        }
    }

    fileprivate func carriesValue(missingIn value: Value, _ changeset: Changeset) -> Bool {
        switch self {
        case .update(let update): changeset.isMissing(update.payload, in: value)
        case .arrayInsert(_, let payload, _), .setInsert(_, let payload):
            changeset.isMissing(payload, in: value)
        case .addInteger: true
        default: false
        }
    }
}

extension Changeset {
    fileprivate func isChange(
        at object: ObjectReference,
        _ field: Text,
        _ instruction: Instruction
    ) -> Bool {
        guard let path = instruction.pathTarget, text(path.field) == field else { return false }
        return reference(path.object) == object
    }

    fileprivate func isMissing(_ payload: Payload, in value: Value) -> Bool {
        guard let scalar = scalar(payload), scalar != .null else { return false }
        return !value.holds(scalar)
    }
}

extension Value {
    fileprivate func holds(_ scalar: Scalar) -> Bool {
        switch self {
        case .scalar(let own): own == scalar
        case .list(let elements): elements.contains { $0.holds(scalar) }
        case .set(let set): set.contains(scalar)
        case .dictionary(let members): members.values.contains { $0.holds(scalar) }
        case .object(let document): document.values.contains { $0.holds(scalar) }
        }
    }
}
