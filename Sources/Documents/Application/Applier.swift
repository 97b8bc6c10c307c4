package import Changesets
import Schemas

/// Applies changesets to a store, in their order (instruction semantics, 3).
///
/// An object is read when it is first touched and written by `finish`, once, however many instructions
/// change it in between. After an error the applier is of no further use, and the store is somewhere
/// inside the batch: roll it back.
package struct Applier<Store: ObjectStore> {
    package typealias Failure = ApplyError<Store.Failure>

    /// The store's schema with `schemaChanges` made.
    private var schema: RealmSchema?
    /// Not yet made to the store.
    private var schemaChanges: [SchemaChange] = []
    private var entries: [Entry] = []
    private var positions: [ObjectReference: Int] = [:]

    package init() {}

    package mutating func apply(
        _ changeset: Changeset,
        to store: inout Store
    ) throws(Failure) {
        if schema == nil { schema = store.schema }
        let instructions = changeset.instructions
        var start = 0
        while start < instructions.count {
            // Changes of the schema are barriers between runs of changes to objects.
            let changesSchema = instructions[start].changesSchema
            let end =
                instructions[start...].firstIndex { $0.changesSchema != changesSchema }
                ?? instructions.count
            if changesSchema {
                try changeSchema(changeset, start..<end, &store)
            } else {
                try changeObjects(changeset, start..<end, &store)
            }
            start = end
        }
    }

    /// Writes to the store what has changed.
    package mutating func finish(_ store: inout Store) throws(Failure) {
        try write(to: &store)
        schema = nil
    }
}

extension ObjectStore {
    /// Applies the changesets as one batch.
    package mutating func apply(
        _ changesets: some Sequence<Changeset>
    ) throws(ApplyError<Failure>) {
        var applier = Applier<Self>()
        for changeset in changesets {
            try applier.apply(changeset, to: &self)
        }
        try applier.finish(&self)
    }
}

// MARK: Schema

extension Applier {
    private mutating func changeSchema(
        _ changeset: Changeset,
        _ run: Range<Int>,
        _ store: inout Store
    ) throws(Failure) {
        guard var changed = schema else { preconditionFailure("the schema is known by now") }
        // With no second reference to it, the schema is changed where it is.
        schema = nil
        var changes: [SchemaChange] = []
        for position in run {
            do throws(BadInstruction) {
                let instruction = changeset.instructions[position]
                let change = try changed.apply(instruction, strings: changeset.strings)
                if let change { changes.append(change) }
            } catch {
                throw .badInstruction(error.at(position))
            }
        }
        schema = changed
        guard !changes.isEmpty else { return }
        // Documents that were read before have the shape of the old schema.
        if !entries.isEmpty { try write(to: &store) }
        schemaChanges += changes
    }

    private mutating func writeSchema(to store: inout Store) throws(Store.Failure) {
        guard !schemaChanges.isEmpty else { return }
        try store.changeSchema(schemaChanges)
        schemaChanges = []
    }
}

// MARK: Objects

extension Applier {
    /// What is known of an object so far.
    private struct Entry {
        let object: ObjectReference
        var state: State

        enum State {
            case unread
            case read(Document)
            case missing
            case written(Document)
            case erased
        }
    }

    /// The object of the instruction before: the next one is mostly about the same.
    private struct Focus {
        let target: Instruction.ObjectTarget
        let entry: Int
        let classPosition: Int
    }

    private mutating func changeObjects(
        _ changeset: Changeset,
        _ run: Range<Int>,
        _ store: inout Store
    ) throws(Failure) {
        guard let schema else { preconditionFailure("the schema is known by now") }
        do throws(Store.Failure) {
            try writeSchema(to: &store)
        } catch {
            throw .store(error)
        }
        var editor = InstructionEditor(schema: schema, strings: changeset.strings)
        var focus: Focus?
        for position in run {
            do throws(Failure) {
                try apply(changeset.instructions[position], &editor, &focus, &store)
            } catch {
                throw error.at(position)
            }
        }
    }

    private mutating func apply(
        _ instruction: Instruction,
        _ editor: inout InstructionEditor,
        _ focus: inout Focus?,
        _ store: inout Store
    ) throws(Failure) {
        switch instruction {
        case .createObject(let target):
            let found = try find(target, &editor, &focus)
            if try document(found.entry, &store) == nil {
                let document = editor.resolver.newDocument(of: found.classPosition)
                entries[found.entry].state = .written(document)
            }
        case .eraseObject(let target):
            let found = try find(target, &editor, &focus)
            entries[found.entry].state = .erased
        default:
            guard let edit = Edit(instruction) else {
                preconditionFailure("\(instruction.code) is no change to an object")
            }
            let found = try find(edit.target.object, &editor, &focus)
            guard var document = try document(found.entry, &store) else {
                let className = editor.schema.classes[found.classPosition].name
                throw .badInstruction(BadInstruction(.missingObject(className)))
            }
            // With no second reference to it, the document is changed where it is.
            entries[found.entry].state = .unread
            do throws(BadInstruction) {
                let property = try editor.resolver.property(
                    edit.target.field,
                    of: found.classPosition
                )
                try editor.apply(edit, property, to: &document.values[property.position])
            } catch {
                throw .badInstruction(error)
            }
            entries[found.entry].state = .written(document)
        }
    }

    private mutating func find(
        _ target: Instruction.ObjectTarget,
        _ editor: inout InstructionEditor,
        _ focus: inout Focus?
    ) throws(Failure) -> Focus {
        if let focus, focus.target == target { return focus }
        let classPosition: Int
        let object: ObjectReference
        do throws(BadInstruction) {
            (classPosition, object) = try editor.resolver.object(target)
        } catch {
            throw .badInstruction(error)
        }
        let entry: Int
        if let known = positions[object] {
            entry = known
        } else {
            entry = entries.count
            entries.append(Entry(object: object, state: .unread))
            positions[object] = entry
        }
        let found = Focus(target: target, entry: entry, classPosition: classPosition)
        focus = found
        return found
    }

    private mutating func document(
        _ entry: Int,
        _ store: inout Store
    ) throws(Failure) -> Document? {
        switch entries[entry].state {
        case .read(let document), .written(let document):
            return document
        case .missing, .erased:
            return nil
        case .unread:
            do throws(Store.Failure) {
                let document = try store.document(for: entries[entry].object)
                entries[entry].state = document.map { .read($0) } ?? .missing
                return document
            } catch {
                throw .store(error)
            }
        }
    }

    private mutating func write(to store: inout Store) throws(Failure) {
        do throws(Store.Failure) {
            try writeSchema(to: &store)
            // Neighbours in the store are written one after the other.
            for entry in entries.sorted(by: { $0.object.precedes($1.object) }) {
                switch entry.state {
                case .written(let document):
                    try store.setDocument(document, for: entry.object)
                case .erased:
                    try store.removeDocument(for: entry.object)
                case .unread, .read, .missing:
                    break
                }
            }
        } catch {
            throw .store(error)
        }
        entries = []
        positions = [:]
    }
}

extension ObjectReference {
    fileprivate func precedes(_ other: ObjectReference) -> Bool {
        readingOrder(to: other) == .ascending
    }
}

extension ApplyError {
    /// The same error, of the instruction at that position of its changeset.
    fileprivate func at(_ position: Int) -> ApplyError {
        switch self {
        case .badInstruction(let error): .badInstruction(error.at(position))
        case .store: self
        }
    }
}
