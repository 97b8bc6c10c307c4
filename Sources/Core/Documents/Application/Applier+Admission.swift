package import Changesets
import Schemas

extension Applier {
    /// Applies the fitting part of an uploaded changeset; returns the version for other clients.
    ///
    /// Every instruction is checked: those that do not fit are left out. An erasure of null from a
    /// typed set, which the reference's clients refuse, becomes the whole content of the set
    /// (instruction semantics, 3.15).
    package mutating func admit(
        _ changeset: Changeset,
        to store: inout Store,
        _ admission: inout Admission
    ) throws(Failure) -> Changeset {
        admission.begin()
        let instructions = changeset.instructions
        try carryOut(changeset, &store) { (applier, run, editor, store) throws(Failure) in
            var rest = run
            while !rest.isEmpty {
                let position = applier.nextToAdmit(instructions, &rest, admission, &editor)
                if let position {
                    try applier.admit(position, of: changeset, &editor, &store, &admission)
                }
                try applier.writeIfMany(to: &store)
            }
        }
        return admission.finish(changeset)
    }

    /// The next instruction to look at one by one.
    private mutating func nextToAdmit(
        _ instructions: [Instruction],
        _ run: inout Range<Int>,
        _ admission: borrowing Admission,
        _ editor: inout InstructionEditor
    ) -> Int? {
        admission.isClearThroughout ? applyPlain(instructions, &run, &editor) : run.popFirst()
    }

    private mutating func admit(
        _ position: Int,
        of changeset: Changeset,
        _ editor: inout InstructionEditor,
        _ store: inout Store,
        _ admission: inout Admission
    ) throws(Failure) {
        let instruction = changeset.instructions[position]
        guard admission.isClear(instruction, of: changeset) else {
            let value = try value(at: instruction, position, &editor, &store)
            return admission.leaveOut(
                position,
                of: changeset,
                because: .unclearPosition,
                value: value?.value
            )
        }
        if !admission.allowsCollectionsInMixed, instruction.makesCollectionInMixed,
            let found = try value(at: instruction, position, &editor, &store),
            found.property.isOpen
        {
            return admission.leaveOut(
                position,
                of: changeset,
                because: .collectionInMixed,
                value: found.value
            )
        }
        let isErasureOfNull = instruction.erasesNull
        let before =
            isErasureOfNull ? try value(at: instruction, position, &editor, &store) : nil
        do throws(Failure) {
            try apply(instruction, position, &editor, &store)
        } catch {
            guard case .badInstruction(let bad) = error else { throw error }
            let found = try value(at: instruction, position, &editor, &store)
            guard bad.problem.dependsOnState(ofOpenProperty: found?.property.isOpen ?? false)
            else { throw error }
            return admission.leaveOut(
                position,
                of: changeset,
                because: bad.problem,
                value: found?.value
            )
        }
        guard isErasureOfNull, let before, case .setErase(let erase) = instruction,
            let set = editor.typedSet(at: erase.target, in: before.value, before.property)
        else { return }
        do throws(BadInstruction) {
            try admission.replaceErasureOfNull(at: position, erase.target, from: set)
        } catch {
            throw .badInstruction(error.at(position))
        }
    }

    /// The property that an instruction targets, and its value; nil if its object does not exist,
    /// or if the target is an object as a whole.
    private mutating func value(
        at instruction: Instruction,
        _ position: Int,
        _ editor: inout InstructionEditor,
        _ store: inout Store
    ) throws(Failure) -> (property: ResolvedProperty, value: Value)? {
        guard let target = instruction.pathTarget else { return nil }
        while true {
            let found: TouchedObjects.LookUp
            do throws(BadInstruction) {
                found = try lookUp(target, &editor)
            } catch {
                throw .badInstruction(error.at(position))
            }
            switch found {
            case .unread(let entry): try read(entry, &store)
            case .missing: return nil
            case .found(let property, let value): return (property, value)
            }
        }
    }
}

extension ResolvedProperty {
    /// Whether the instructions that fit depend on the value.
    fileprivate var isOpen: Bool {
        switch slot.element {
        case .mixed, .embedded: true
        case .scalar, .link: false
        }
    }
}

extension Admission {
    /// Other clients get the set without null; nothing if it contains none.
    fileprivate mutating func replaceErasureOfNull(
        at position: Int,
        _ target: Instruction.PathTarget,
        from set: ValueSet
    ) throws(BadInstruction) {
        guard set.contains(.null) else { return try replace(position, by: [], sizeInBytes: 0) }
        let rest = set.elements.filter { $0 != .null }
        let inserts = rest.compactMap { Payload(withoutStrings: $0) }
            .map { Instruction.setInsert(target, $0) }
        try replace(
            position,
            by: [.clear(target, .set)] + inserts,
            sizeInBytes: rest.reduce(0) { $0 + 16 + $1.sizeInBytes }
        )
    }
}

extension Instruction {
    /// Typed collections exist with their object: only those in mixed values need an instruction.
    fileprivate var makesCollectionInMixed: Bool {
        switch self {
        case .update(let update): update.payload.isCollection
        case .arrayInsert(_, let payload, _), .setInsert(_, let payload): payload.isCollection
        default: false
        }
    }

    fileprivate var erasesNull: Bool {
        guard case .setErase(let erase) = self else { return false }
        return erase.payload == .null
    }
}

extension Payload {
    fileprivate var isCollection: Bool {
        switch self {
        case .list, .dictionary: true
        default: false
        }
    }
}

extension Scalar {
    fileprivate var sizeInBytes: Int {
        switch self {
        case .string(let text): text.bytes.count
        case .binary(let bytes): bytes.count
        default: 16
        }
    }
}
