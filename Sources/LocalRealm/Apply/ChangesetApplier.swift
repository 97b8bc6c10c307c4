internal import Changesets
internal import SQLite
internal import Schemas

/// Applies changesets to the tables, within the current transaction (local realm, 5).
///
/// Instructions on objects are gathered across changesets; one on the schema is a barrier before which
/// everything gathered is written, and so is the end.
struct ChangesetApplier {
    private let statements: StatementPool
    private var folder: InstructionFolder
    private(set) var editor: SchemaEditor
    /// Whether the editor knows classes that the folder does not.
    private var isSchemaAhead = false

    init(_ editor: SchemaEditor, _ statements: StatementPool) {
        self.editor = editor
        self.statements = statements
        self.folder = InstructionFolder(editor.catalogue)
    }

    /// A `BadInstruction` without position is about any of the changesets applied so far.
    mutating func apply(_ changeset: Changeset) throws {
        folder.begin(changeset.strings)
        for (position, instruction) in changeset.instructions.enumerated() {
            if instruction.changesSchema {
                try finishObjects()
            } else if isSchemaAhead {
                try finishSchema(changeset.strings)
            }
            do {
                if instruction.changesSchema {
                    let isChange = try editor.apply(instruction, strings: changeset.strings)
                    isSchemaAhead = isSchemaAhead || isChange
                } else {
                    try folder.fold(instruction, changeset)
                }
            } catch let error as BadInstruction {
                throw error.at(position)
            }
        }
    }

    /// Writes what has been gathered.
    mutating func finish() throws {
        try finishObjects()
        guard isSchemaAhead else { return }
        try editor.flush()
        statements.removeAll()
    }

    private mutating func finishObjects() throws {
        for (position, batch) in folder.batches.enumerated() where !batch.isEmpty {
            let table = editor.catalogue[position]
            try BatchWriter(statements.statements(of: table)).write(batch)
        }
        folder.removeAll()
    }

    /// Makes the tables that schema instructions have asked for, and lets the folder see them.
    private mutating func finishSchema(_ strings: StringTable) throws {
        try editor.flush()
        statements.removeAll()
        folder = InstructionFolder(editor.catalogue)
        folder.begin(strings)
        isSchemaAhead = false
    }
}
