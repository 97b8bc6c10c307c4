internal import Changesets
internal import Schemas

/// The classes of a realm with their tables, as `_realm_class` and `_realm_property` have them.
struct Catalogue: Hashable {
    var schema = RealmSchema()
    /// The part that the server knows, or will know once the history is uploaded.
    var published = RealmSchema()
    private(set) var tables: [ClassTable] = []
    private var positionsByName: [Text: Int] = [:]
    private var positionsByID: [Int64: Int] = [:]

    subscript(position: Int) -> ClassTable {
        get { tables[position] }
        set { tables[position] = newValue }
    }

    func position(of name: Text) -> Int? {
        positionsByName[name]
    }

    func position(ofID id: Int64) -> Int? {
        positionsByID[id]
    }

    mutating func append(_ table: ClassTable) {
        positionsByName[table.name] = tables.count
        positionsByID[table.id] = tables.count
        tables.append(table)
    }

    mutating func remove(at position: Int) {
        let rest = tables[..<position] + tables[(position + 1)...]
        tables = []
        positionsByName = [:]
        positionsByID = [:]
        for table in rest { append(table) }
    }

    /// The link columns that point to a class.
    func referrers(to name: Text) -> [(table: Int, column: Int)] {
        tables.indices.flatMap { table in
            tables[table].columns.indices.compactMap { column in
                guard case .link(let target) = tables[table].columns[column].type,
                    target.className == name
                else { return nil }
                return (table, column)
            }
        }
    }
}
