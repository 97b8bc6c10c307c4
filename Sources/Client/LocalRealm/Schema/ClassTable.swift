internal import Changesets
internal import Schemas

/// A class and the table that holds its objects.
struct ClassTable: Hashable {
    /// Number in `_realm_class`; part of the names of triggers, and of the log rows.
    let id: Int64
    let name: Text
    let tableName: String
    let key: PrimaryKeySchema
    /// Its rows are deleted once drained.
    let isAsymmetric: Bool
    /// In schema order, which is also the order of their ids.
    private(set) var columns: [Column] = []
    /// Positions of the columns in the order of a changeset: collections after single values (local
    /// realm, 4.3).
    private(set) var drainOrder: [Int] = []
    private var positionsByID: [Int64: Int] = [:]
    private var positionsByName: [Text: Int] = [:]

    init(
        id: Int64,
        name: Text,
        tableName: String,
        key: PrimaryKeySchema,
        isAsymmetric: Bool = false
    ) {
        self.id = id
        self.name = name
        self.tableName = tableName
        self.key = key
        self.isAsymmetric = isAsymmetric
    }

    /// The key's column, which is always the first; a class without primary key has one for the
    /// server's object key (local realm, 2).
    var keyColumn: String { key.type == .globalKey ? "_realm_key" : key.name.description }

    func position(ofID id: Int64) -> Int? {
        positionsByID[id]
    }

    func position(of name: Text) -> Int? {
        positionsByName[name]
    }

    mutating func append(_ column: Column) {
        positionsByID[column.id] = columns.count
        positionsByName[column.name] = columns.count
        columns.append(column)
        let isSingle = { [columns] (position: Int) in
            columns[position].property.collection == .single
        }
        drainOrder = columns.indices.filter(isSingle) + columns.indices.filter { !isSingle($0) }
    }

    mutating func remove(at position: Int) {
        let rest = columns[..<position] + columns[(position + 1)...]
        columns = []
        positionsByID = [:]
        positionsByName = [:]
        for column in rest { append(column) }
    }
}
