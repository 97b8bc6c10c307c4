import Changesets
import Documents
import Schemas
import ServerStore

/// Writes objects in the server's own form: `jsonb` keeps values, not spellings (server on
/// PostgreSQL, 5).
struct CanonicalDocuments {
    /// The schemas of files, most of which are equal.
    private var schemas: [Int64: [UInt8]] = [:]
    private var forms: [[UInt8]: (schema: RealmSchema, form: JSONForm)] = [:]

    /// Keeps the schema of a file, from its row.
    mutating func note(_ row: [CopiedValue], of table: CopiedTable) {
        guard table.name == CopiedTable.fileSchema, case .integer(let file) = row[0],
            case .bytes(let schema) = row[2]
        else { return }
        schemas[file] = schema
    }

    /// The row as it is stored and compared.
    mutating func canonical(
        _ row: [CopiedValue],
        of table: CopiedTable
    ) throws -> [CopiedValue] {
        guard table.name == CopiedTable.object else { return row }
        guard case .integer(let file) = row[0], case .text(let name?) = row[1],
            case .bytes(let key) = row[2], case .text(let json?) = row[3],
            let key = StoredKey.decode(key)
        else { throw StoreCopyFailure("an object's row is damaged") }
        let (schema, form) = try form(of: file)
        let className = Text(bytes: name)
        guard let owner = schema[className] else {
            throw StoreCopyFailure("server file \(file) has objects of an unknown class")
        }
        let document = try form.decodeDocument(json, of: owner)
        return Array(row.prefix(3)) + [.text(form.encode(document, key: key, of: owner))]
    }

    private mutating func form(of file: Int64) throws -> (schema: RealmSchema, form: JSONForm) {
        let stored = schemas[file] ?? []
        if let known = forms[stored] { return known }
        guard let schema = StoredSchema.decode(stored) else {
            throw StoreCopyFailure("the schema of server file \(file) is damaged")
        }
        let form = (schema: schema, form: JSONForm(schema: schema))
        forms[stored] = form
        return form
    }
}
