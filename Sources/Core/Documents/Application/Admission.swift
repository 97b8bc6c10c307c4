package import Changesets
package import Schemas

/// What becomes of uploaded instructions that fit nothing at the server (instruction semantics, 4;
/// sync history, 14.6).
///
/// A client may send, rightly by its own rules, changes to an object, an element or a list as the server
/// does not have them. They are left out, and the client is told what the server has instead. An
/// instruction that no state could take is refused all the same.
package struct Admission {
    /// An object of which changes were left out.
    package struct Misfit: Hashable, Sendable {
        package let object: ObjectReference
        /// Of the first instruction that was left out.
        package let problem: BadInstruction.Problem
        /// Position of its changeset among those that were admitted.
        package let changeset: Int
        /// Instructions that were left out.
        package fileprivate(set) var count: Int
        /// Whether one of them carried a value for an object that is there, and that value is not in
        /// the property as the server has it.
        package fileprivate(set) var losesData: Bool
        /// The properties of an object that is there, of which changes were left out.
        package fileprivate(set) var fields: [Text]
        /// Whether changes were left out while the object was not there.
        package fileprivate(set) var wasMissing: Bool
    }

    /// In the order in which they came up.
    package private(set) var misfits: [Misfit] = []
    private var positions: [ObjectReference: Int] = [:]
    /// Properties whose positions the client counts differently from here on.
    private var unclear: Set<Place> = []
    private var changesetCount = 0
    /// What other clients get in the place of instructions of the current changeset.
    private var replacements: [(position: Int, instructions: [Instruction])] = []
    private var replacementSizeInBytes = 0

    /// Contents of sets that are written out for other clients, over all changesets of an upload.
    private let replacementLimitInBytes: Int

    private struct Place: Hashable {
        let object: ObjectReference
        let field: Text
    }

    package init(replacementLimitInBytes: Int = 32 << 20) {
        self.replacementLimitInBytes = replacementLimitInBytes
    }
}

// MARK: One changeset after the other

extension Admission {
    mutating func begin() {
        replacements = []
    }

    /// Whether all of the current changeset was admitted as it is.
    package var leftChangesetAlone: Bool { replacements.isEmpty }

    /// What was admitted of the changeset.
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

    /// Whether the instruction's path can still mean what its client meant.
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

    /// Leaves out the instruction at a position. `value` is what the property holds; nil if its object is
    /// not there.
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
        let losesData = value.map { instruction.carriesValue(missingIn: $0, changeset) } ?? false
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

    /// Takes every change to the property that an instruction is about out of changesets that cannot be
    /// merged because of it. `first` is the position of the first changeset among those of the upload.
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
                // What the server has is not known yet.
                losesData: dropped.contains { $0.carriesValue(missingIn: .null, own) }
            )
        }
    }

    /// Takes what changes some objects out of changesets: with it, they would be too large. `first` is the
    /// position of the first changeset among those of the upload.
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

    /// Gives other clients these instructions in the place of the one at the position.
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
    /// Whether what the property held does not matter any more.
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
