internal import Changesets
internal import Documents
internal import Schemas

/// The definition of a column as CREATE TABLE and ALTER TABLE write it (local realm, 2 and 10).
///
/// The name of a constraint is a sentence, because SQLite reports it when the constraint is
/// violated.
enum ColumnDefinition {
    static func property(_ column: Column, of table: ClassTable) -> String {
        property(column, of: table, defaultText: defaultText(column))
    }

    /// The definition with another DEFAULT, as the file may still have it.
    static func property(
        _ column: Column,
        of table: ClassTable,
        defaultText: String?
    ) -> String {
        var parts = [SQLText.name(column.columnName), storage(column)]
        switch column.type {
        // Writing NULL means "empty".
        case .list, .set, .dictionary: parts.append("NOT NULL ON CONFLICT REPLACE")
        case .scalar, .link, .mixed, .embedded:
            if !column.isNullable { parts.append("NOT NULL") }
        }
        if let defaultText { parts.append("DEFAULT \(defaultText)") }
        let subject = "\(table.name).\(column.name)"
        if let check = ColumnCheck(column.type) {
            parts.append(constraint(subject, check, column.columnName, column.isNullable))
        }
        return parts.joined(separator: " ")
    }

    /// The text after DEFAULT; nil for NULL.
    static func defaultText(_ column: Column) -> String? {
        column.insertDefault == .null ? nil : SQLText.literal(column.insertDefault)
    }

    static func key(of table: ClassTable) -> String {
        let key = table.key
        var parts = [SQLText.name(table.keyColumn)]
        switch key.type {
        // Never INTEGER PRIMARY KEY: SQLite would number rows itself, and two devices would use the
        // same numbers.
        case .int: parts.append("INT")
        case .string, .objectID, .uuid, .globalKey: parts.append("TEXT")
        }
        let generator = generator(key.type)
        if !key.isNullable {
            parts.append(generator == nil ? "NOT NULL" : "NOT NULL ON CONFLICT REPLACE")
        }
        if let generator { parts.append("DEFAULT \(generator)") }
        if let check = ColumnCheck(key.type) {
            let subject = "\(table.name).\(key.name)"
            parts.append(constraint(subject, check, table.keyColumn, key.isNullable))
        }
        // A primary key of a STRICT table is never NULL.
        parts.append(key.isNullable ? "UNIQUE" : "PRIMARY KEY")
        return parts.joined(separator: " ")
    }

    /// The type of the column, which STRICT enforces.
    static func storage(_ column: Column) -> String {
        switch column.type {
        case .scalar(.int), .scalar(.bool): "INTEGER"
        // A REAL column would turn -0.0 into 0.
        case .scalar(.float), .scalar(.double): "ANY"
        case .scalar(.binary): "BLOB"
        case .scalar(.string), .scalar(.timestamp), .scalar(.decimal), .scalar(.objectID),
            .scalar(.uuid):
            "TEXT"
        // The null key is the empty blob.
        case .link(let target) where target.key.isNullable: "ANY"
        case .link(let target): target.key.type == .int ? "INTEGER" : "TEXT"
        case .mixed, .embedded, .list, .set, .dictionary: "TEXT"
        }
    }

    private static func constraint(
        _ subject: String,
        _ check: ColumnCheck,
        _ columnName: String,
        _ isNullable: Bool
    ) -> String {
        let name = SQLText.name(columnName)
        // A NULL must pass by name: some of the tests give 0 for it, not NULL.
        let condition = (isNullable ? "\(name) IS NULL OR " : "") + check.condition(name)
        return "CONSTRAINT \(SQLText.name("\(subject) \(check.demand)")) CHECK (\(condition))"
    }

    /// The expression that makes a key for a row inserted without one.
    private static func generator(_ type: PrimaryKeyType) -> String? {
        switch type {
        case .int, .string, .globalKey: nil
        case .objectID:
            """
            (lower(printf('%08x', CAST(strftime('%s','now') AS INTEGER)) || hex(randomblob(8))))
            """
        case .uuid:
            """
            (lower(hex(randomblob(4))||'-'||hex(randomblob(2))||'-4'||\
            substr(hex(randomblob(2)),2)||'-'||substr('89ab',1+(random()&3),1)||\
            substr(hex(randomblob(2)),2)||'-'||hex(randomblob(6))))
            """
        }
    }
}
