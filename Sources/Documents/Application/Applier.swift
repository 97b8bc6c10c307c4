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
        var state = State.unread
        /// Of what is read or written; beside the state and not in it, to be changed where it is.
        var document = Document(values: [])

        enum State {
            case unread
            case read
            case missing
            case written
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
            if try !isThere(found.entry, &store) {
                entries[found.entry].document = editor.resolver.newDocument(of: found.classPosition)
                entries[found.entry].state = .written
            }
        case .eraseObject(let target):
            let found = try find(target, &editor, &focus)
            entries[found.entry].state = .erased
            entries[found.entry].document = Document(values: [])
        case .update(let update) where update.target.path.isEmpty:
            try change(update.target, &editor, &focus, &store) {
                (editor, property, value) throws(BadInstruction) in
                try editor.update(property, to: update.payload, &value)
            }
        default:
            guard let edit = Edit(instruction) else {
                preconditionFailure("\(instruction.code) is no change to an object")
            }
            try change(edit.target, &editor, &focus, &store) {
                (editor, property, value) throws(BadInstruction) in
                try editor.apply(edit, property, to: &value)
            }
        }
    }

    /// Lends the value of a property to the body.
    private mutating func change(
        _ target: Instruction.PathTarget,
        _ editor: inout InstructionEditor,
        _ focus: inout Focus?,
        _ store: inout Store,
        _ body: (
            inout InstructionEditor, ResolvedProperty, inout Value
        ) throws(BadInstruction) -> Void
    ) throws(Failure) {
        let found = try find(target.object, &editor, &focus)
        guard try isThere(found.entry, &store) else {
            let className = editor.schema.classes[found.classPosition].name
            throw .badInstruction(BadInstruction(.missingObject(className)))
        }
        do throws(BadInstruction) {
            let property = try editor.resolver.property(target.field, of: found.classPosition)
            try body(
                &editor,
                property,
                &entries[found.entry].document.values[property.position]
            )
        } catch {
            throw .badInstruction(error)
        }
        entries[found.entry].state = .written
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
            entries.append(Entry(object: object))
            positions[object] = entry
        }
        let found = Focus(target: target, entry: entry, classPosition: classPosition)
        focus = found
        return found
    }

    /// Whether there is such an object; after that its document is in the entry.
    private mutating func isThere(
        _ entry: Int,
        _ store: inout Store
    ) throws(Failure) -> Bool {
        switch entries[entry].state {
        case .read, .written:
            return true
        case .missing, .erased:
            return false
        case .unread:
            do throws(Store.Failure) {
                guard let document = try store.document(for: entries[entry].object) else {
                    entries[entry].state = .missing
                    return false
                }
                entries[entry].document = document
                entries[entry].state = .read
                return true
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
                case .written:
                    try store.setDocument(entry.document, for: entry.object)
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
