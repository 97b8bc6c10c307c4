internal import Changesets
internal import Documents
internal import Schemas

/// Checks the object instructions of changesets against the schema, and folds them by class and
/// object; needs no database (local realm, 5; instruction semantics, 2 and 3).
struct InstructionFolder {
    private let schema: RealmSchema
    /// One for each class of the schema.
    private(set) var batches: [ObjectBatch]
    private var sources: [Source] = []
    private var last: (target: Instruction.ObjectTarget, classPosition: Int, object: Int)?

    /// A changeset, kept while its edits wait for their objects to be read.
    private struct Source {
        let number: Int
        let changeset: Changeset
        var editor: InstructionEditor
    }

    init(_ schema: RealmSchema) {
        self.schema = schema
        self.batches = Array(repeating: ObjectBatch(), count: schema.classes.count)
    }

    /// Whether no action is gathered.
    var isEmpty: Bool { batches.allSatisfy(\.isEmpty) }

    /// Call it before the instructions of each changeset; errors name the changeset by the number.
    mutating func begin(_ changeset: Changeset, number: Int) {
        let editor = InstructionEditor(schema: schema, strings: changeset.strings)
        sources.append(Source(number: number, changeset: changeset, editor: editor))
        last = nil
    }

    /// Removes the gathered actions, and all changesets but the current one.
    mutating func removeAll() {
        for position in batches.indices where !batches[position].isEmpty {
            batches[position] = ObjectBatch()
        }
        sources.removeSubrange(..<max(0, sources.count - 1))
        last = nil
    }

    enum Outcome {
        case folded
        /// The gathered actions must be written before the instruction can be folded.
        case blocked
    }

    /// Folds an instruction of the current changeset.
    mutating func fold(_ position: Int) throws(ApplyFailure) -> Outcome {
        let source = sources.count - 1
        let place = InstructionPlace(source: source, position: position)
        let instruction = sources[source].changeset.instructions[position]
        do throws(BadInstruction) {
            switch instruction {
            case .createObject(let target):
                let (classPosition, object) = try object(target)
                batches[classPosition].create(object)
            case .eraseObject(let target):
                let (classPosition, object) = try object(target)
                // Its edits may be invalid, which only the row tells.
                if batches[classPosition].hasEdits(object) { return .blocked }
                batches[classPosition].erase(object)
            case .addTable, .eraseTable, .addColumn, .eraseColumn:
                preconditionFailure("schema instructions are barriers")
            default:
                try change(instruction, place)
            }
        } catch {
            throw failure(error, place)
        }
        return .folded
    }

    private mutating func change(
        _ instruction: Instruction,
        _ place: InstructionPlace
    ) throws(BadInstruction) {
        let change = try sources[place.source].editor.outline(of: instruction)
        let (classPosition, object) = try object(change.object)
        let isThere =
            switch change.effect {
            case .replace(let scalar):
                batches[classPosition].set(
                    object,
                    change.position,
                    to: column(of: scalar, classPosition, change.position),
                    place
                )
            case .increment(let amount):
                batches[classPosition].add(object, change.position, amount, place)
            case .edit:
                batches[classPosition].edit(object, change.position, place)
            }
        guard isThere else {
            throw BadInstruction(.missingObject(schema.classes[classPosition].name))
        }
    }

    private func column(
        of scalar: Scalar,
        _ classPosition: Int,
        _ position: Int
    ) -> ColumnValue {
        guard case .mixed = schema.classes[classPosition].properties[position].type else {
            return ColumnForm.encode(scalar)
        }
        let property = schema.classes[classPosition].properties[position]
        return ColumnForm.encode(.scalar(scalar), of: property, in: schema)
    }

    private mutating func object(
        _ target: Instruction.ObjectTarget
    ) throws(BadInstruction) -> (classPosition: Int, object: Int) {
        if let last, last.target == target { return (last.classPosition, last.object) }
        let (classPosition, key) = try sources[sources.count - 1].editor.locate(target)
        let object = batches[classPosition].object(ColumnForm.encodeKey(key))
        last = (target, classPosition, object)
        return (classPosition, object)
    }
}

// MARK: For the writer

extension InstructionFolder {
    /// Applies an edit to the value of its property.
    mutating func apply(_ place: InstructionPlace, to value: inout Documents.Value)
        throws(ApplyFailure)
    {
        do throws(BadInstruction) {
            let instruction = sources[place.source].changeset.instructions[place.position]
            try sources[place.source].editor.apply(instruction, to: &value)
        } catch {
            throw failure(error, place)
        }
    }

    /// Objects of an asymmetric class never exist in a table, even new ones.
    func check(_ batch: ObjectBatch, ofClassWithoutObjects name: Text) throws(ApplyFailure) {
        for case .some(let place) in batch.neededBy {
            throw failure(BadInstruction(.missingObject(name)), place)
        }
    }

    /// The error, attributed to the instruction at that place.
    func failure(_ error: BadInstruction, _ place: InstructionPlace) -> ApplyFailure {
        ApplyFailure(
            changeset: sources[place.source].number,
            error: error.at(place.position)
        )
    }
}

/// The position of an instruction among the gathered ones.
struct InstructionPlace {
    private let sourceNumber: UInt32
    private let positionNumber: UInt32

    init(source: Int, position: Int) {
        self.sourceNumber = UInt32(source)
        self.positionNumber = UInt32(position)
    }

    var source: Int { Int(sourceNumber) }
    /// In its changeset.
    var position: Int { Int(positionNumber) }
}

/// An invalid instruction, and the number of its changeset.
struct ApplyFailure: Error {
    let changeset: Int
    let error: BadInstruction
}
