internal import Changesets
internal import SQLite
internal import Schemas

/// Applies changesets to the tables, within the current transaction (local realm, 5).
///
/// Object instructions are gathered across changesets. A schema instruction is a barrier, before
/// which everything gathered is written; so is the end.
struct ChangesetApplier {
    private let statements: StatementPool
    private var folder: InstructionFolder
    private var plans: [ClassPlan]
    private(set) var editor: SchemaEditor
    /// Whether the editor has classes that the folder lacks.
    private var isSchemaAhead = false

    /// From this number of objects on it pays to write what was gathered, before more of it is folded.
    private static let worthWriting = 64

    init(_ editor: SchemaEditor, _ statements: StatementPool) {
        self.editor = editor
        self.statements = statements
        self.folder = InstructionFolder(editor.catalogue.schema)
        self.plans = Self.plans(editor.catalogue)
    }

    private static func plans(_ catalogue: Catalogue) -> [ClassPlan] {
        catalogue.schema.classes.map { ClassPlan($0, catalogue) }
    }

    /// Adds a changeset; the number identifies it in an `ApplyFailure`, even one that a later call
    /// throws.
    mutating func apply(_ changeset: Changeset, number: Int) throws {
        folder.begin(changeset, number: number)
        for position in changeset.instructions.indices {
            if changeset.instructions[position].changesSchema {
                try finishObjects()
                try changeSchema(changeset, position, number)
                continue
            }
            if isSchemaAhead {
                try finishSchema()
                folder.begin(changeset, number: number)
            }
            try fold(position)
        }
    }

    /// Adds a plain changeset. Most of its objects are in their tables when the call returns; an error that
    /// it throws need not be the first of several.
    mutating func apply(_ changeset: PlainChangeset, number: Int) throws {
        if changeset.runCount < Self.worthWriting, !folder.isEmpty {
            return try apply(try Changeset(decoding: changeset.bytes), number: number)
        }
        if isSchemaAhead { try finishSchema() }
        // What was gathered before may concern the same objects.
        try finishObjects()
        let inserter = ObjectInserter(changeset, plans, editor.catalogue.schema, statements)
        let left = changeset.instructions(on: try inserter.run())
        guard !left.isEmpty else { return }
        folder.begin(try Changeset(decoding: changeset.bytes), number: number)
        for position in left { try fold(position) }
    }

    private mutating func fold(_ position: Int) throws {
        guard case .blocked = try folder.fold(position) else { return }
        try finishObjects()
        _ = try folder.fold(position)
    }

    /// Writes the gathered actions.
    mutating func finish() throws {
        try finishObjects()
        guard isSchemaAhead else { return }
        try editor.flush()
        statements.removeAll()
    }

    private mutating func changeSchema(
        _ changeset: Changeset,
        _ position: Int,
        _ number: Int
    ) throws {
        do {
            let instruction = changeset.instructions[position]
            let isChange = try editor.apply(instruction, strings: changeset.strings)
            isSchemaAhead = isSchemaAhead || isChange
        } catch let error as BadInstruction {
            throw ApplyFailure(changeset: number, error: error.at(position))
        }
    }

    private mutating func finishObjects() throws {
        for (position, batch) in folder.batches.enumerated() where !batch.isEmpty {
            try write(batch, of: plans[position])
        }
        folder.removeAll()
    }

    private func write(_ batch: ObjectBatch, of plan: ClassPlan) throws {
        guard let table = plan.table else {
            return try folder.check(batch, ofClassWithoutObjects: plan.name)
        }
        var writer = BatchWriter(
            plan,
            statements.statements(of: table),
            Backlinks(connection: editor.connection, catalogue: editor.catalogue),
            schema: editor.catalogue.schema,
            folder,
            batch
        )
        try writer.write()
    }

    /// Creates the tables and columns that schema instructions added, and updates the folder's
    /// schema.
    private mutating func finishSchema() throws {
        try editor.flush()
        statements.removeAll()
        plans = Self.plans(editor.catalogue)
        folder = InstructionFolder(editor.catalogue.schema)
        isSchemaAhead = false
    }
}
