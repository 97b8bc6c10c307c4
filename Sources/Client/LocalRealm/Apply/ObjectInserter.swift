internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Inserts the objects of a plain changeset into their tables, straight from its bytes: no instruction, no
/// folded action and no row is built in between (local realm, 5). What it cannot insert it leaves to
/// `InstructionFolder`, which has the same result for any object.
struct ObjectInserter {
    private let changeset: PlainChangeset
    private let plans: [ClassPlan]
    private let schema: RealmSchema
    private let statements: StatementPool

    init(
        _ changeset: PlainChangeset,
        _ plans: [ClassPlan],
        _ schema: RealmSchema,
        _ statements: StatementPool
    ) {
        self.changeset = changeset
        self.plans = plans
        self.schema = schema
        self.statements = statements
    }

    /// - Returns: the objects that are left: those that exist, that the changeset only updates, or that do
    ///   not fit the schema or a row without further work.
    func run() throws -> [PlainObject.Place] {
        try changeset.bytes.withUnsafeBufferPointer { bytes in
            var reader = PlainReader(changeset, bytes)
            var object = PlainObject()
            var inserter: (className: InternIndex, rows: RowInserter?)?
            var left: [PlainObject.Place] = []
            while try reader.read(&object) {
                if inserter?.className != object.className {
                    inserter = (object.className, try rowInserter(object.className, bytes))
                }
                if try inserter?.rows?.insert(object) != true { left.append(object.place) }
            }
            return left
        }
    }

    /// Nil if there is no table for objects of such a class.
    private func rowInserter(
        _ className: InternIndex,
        _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(SQLiteError) -> RowInserter? {
        guard let position = schema.position(of: changeset.strings[className]),
            let table = plans[position].table
        else { return nil }
        return RowInserter(
            schema.classes[position],
            plans[position],
            table,
            try statements.statements(of: table).insertion(),
            changeset.strings,
            UnsafeRawBufferPointer(bytes)
        )
    }
}
