package import Changesets
import Schemas

/// Applies changesets to a store, in their order (instruction semantics, 3).
///
/// An object is read when it is first touched and written by `finish`, once, however many
/// instructions change it in between. After an error the applier is not usable, and the store may
/// be in the middle of the batch: roll it back.
package struct Applier<Store: ObjectStore> {
    package typealias Failure = ApplyError<Store.Failure>

    /// The store's schema with `schemaChanges` applied.
    private var schema: RealmSchema?
    /// Not yet applied to the store.
    private var schemaChanges: [SchemaChange] = []
    private var objects: TouchedObjects
    private let heldObjects: Int

    /// - Parameters:
    ///   - expectsNewObjects: whether objects that begin with their creation are added without being read;
    ///     the store must tell if one was there, and the batch then be rolled back.
    ///   - heldObjects: the number of touched objects from which on they are written before `finish`. A
    ///     changeset of many megabytes would otherwise be in memory a second time, as documents.
    package init(expectsNewObjects: Bool = false, heldObjects: Int = .max) {
        self.objects = TouchedObjects(expectsNewObjects: expectsNewObjects)
        self.heldObjects = heldObjects
    }

    package mutating func apply(
        _ changeset: Changeset,
        to store: inout Store
    ) throws(Failure) {
        let instructions = changeset.instructions
        try carryOut(changeset, &store) { (applier, run, editor, store) throws(Failure) in
            var rest = run
            while !rest.isEmpty {
                let position = applier.applyPlain(instructions, &rest, &editor)
                if let position {
                    try applier.apply(instructions[position], position, &editor, &store)
                }
                try applier.writeIfMany(to: &store)
            }
        }
    }

    /// Applies a run of object instructions, by their positions in the changeset.
    typealias ObjectChanges = (
        inout Applier, Range<Int>, inout InstructionEditor, inout Store
    ) throws(Failure) -> Void

    /// Applies the schema instructions of the changeset; those on objects are for the body.
    mutating func carryOut(
        _ changeset: Changeset,
        _ store: inout Store,
        _ change: ObjectChanges
    ) throws(Failure) {
        if schema == nil { schema = store.schema }
        let instructions = changeset.instructions
        var start = 0
        while start < instructions.count {
            // Schema changes are barriers between runs of object changes.
            let changesSchema = instructions[start].changesSchema
            let end =
                instructions[start...].firstIndex { $0.changesSchema != changesSchema }
                ?? instructions.count
            if changesSchema {
                try changeSchema(changeset, start..<end, &store)
            } else {
                var editor = try beginObjects(of: changeset, &store)
                try change(&self, start..<end, &editor, &store)
            }
            start = end
        }
    }

    /// Writes the changes to the store.
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
        // Without a second reference to it, the schema is changed in place.
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
        // Documents read before have the shape of the old schema.
        if !objects.entries.isEmpty { try write(to: &store) }
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
    private mutating func beginObjects(
        of changeset: Changeset,
        _ store: inout Store
    ) throws(Failure) -> InstructionEditor {
        guard let schema else { preconditionFailure("the schema is known by now") }
        do throws(Store.Failure) {
            try writeSchema(to: &store)
        } catch {
            throw .store(error)
        }
        objects.beginChangeset()
        return InstructionEditor(schema: schema, strings: changeset.strings)
    }

    /// Applies plain instructions from the front of a run; returns the position of the first other one. Nil
    /// at the end of the run, or when there are many objects to write.
    mutating func applyPlain(
        _ instructions: [Instruction],
        _ run: inout Range<Int>,
        _ editor: inout InstructionEditor
    ) -> Int? {
        objects.applyPlain(instructions, &run, upTo: heldObjects, &editor)
    }

    /// Writes the objects if there are many.
    mutating func writeIfMany(to store: inout Store) throws(Failure) {
        if objects.entries.count >= heldObjects { try write(to: &store) }
    }

    /// On a bad instruction the objects are as they were.
    mutating func apply(
        _ instruction: Instruction,
        _ position: Int,
        _ editor: inout InstructionEditor,
        _ store: inout Store
    ) throws(Failure) {
        while let unread = try apply(instruction, position, &editor) {
            try read(unread, &store)
        }
    }

    private mutating func apply(
        _ instruction: Instruction,
        _ position: Int,
        _ editor: inout InstructionEditor
    ) throws(Failure) -> Int? {
        do throws(BadInstruction) {
            return try objects.apply(instruction, &editor)
        } catch {
            throw .badInstruction(error.at(position))
        }
    }

    /// The object's state as far as it is known; nil if the store must be asked.
    func known(_ object: ObjectReference) -> Document?? { objects.known(object) }

    mutating func lookUp(
        _ target: Instruction.PathTarget,
        _ editor: inout InstructionEditor
    ) throws(BadInstruction) -> TouchedObjects.LookUp {
        try objects.lookUp(target, &editor)
    }

    mutating func read(_ entry: Int, _ store: inout Store) throws(Failure) {
        do throws(Store.Failure) {
            objects.setRead(try store.document(for: objects.entries[entry].object), at: entry)
        } catch {
            throw .store(error)
        }
    }

    private mutating func write(to store: inout Store) throws(Failure) {
        do throws(Store.Failure) {
            try writeSchema(to: &store)
            for entry in objects.entriesInReadingOrder {
                switch entry.state {
                case .written:
                    try store.setDocument(entry.document, for: entry.object)
                case .added:
                    try store.addDocument(entry.document, for: entry.object)
                case .erased:
                    try store.removeDocument(for: entry.object)
                case .unread, .read, .missing:
                    break
                }
            }
        } catch {
            throw .store(error)
        }
        objects.removeAll()
    }
}
