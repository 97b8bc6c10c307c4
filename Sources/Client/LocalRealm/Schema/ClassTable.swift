internal import Changesets
internal import Schemas

/// A class and the table that holds its objects.
///
/// A class, because each row that is read or written takes it out of the catalogue.
final class ClassTable: Sendable {
    /// Number in `_realm_class`; part of the names of triggers, and of the log rows.
    let id: Int64
    let name: Text
    let tableName: String
    let key: PrimaryKeySchema
    /// Its rows are deleted once drained.
    let isAsymmetric: Bool
    /// In schema order, which is also the order of their ids.
    let columns: [Column]
    /// Positions of the columns in the order of a changeset: collections after single values (local
    /// realm, 4.3).
    let drainOrder: [Int]
    private let positionsByID: [Int64: Int]
    private let positionsByName: [Text: Int]

    init(
        id: Int64,
        name: Text,
        tableName: String,
        key: PrimaryKeySchema,
        isAsymmetric: Bool = false,
        columns: [Column] = []
    ) {
        self.id = id
        self.name = name
        self.tableName = tableName
        self.key = key
        self.isAsymmetric = isAsymmetric
        self.columns = columns
        let isSingle = { (position: Int) in columns[position].property.collection == .single }
        self.drainOrder =
            columns.indices.filter(isSingle) + columns.indices.filter { !isSingle($0) }
        self.positionsByID = Dictionary(
            zip(columns.map(\.id), columns.indices),
            uniquingKeysWith: { $1 }
        )
        self.positionsByName = Dictionary(
            zip(columns.map(\.name), columns.indices),
            uniquingKeysWith: { $1 }
        )
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

    /// The table with another last column.
    func adding(_ column: Column) -> ClassTable {
        with(columns + [column])
    }

    func removing(at position: Int) -> ClassTable {
        var columns = columns
        columns.remove(at: position)
        return with(columns)
    }

    private func with(_ columns: [Column]) -> ClassTable {
        ClassTable(
            id: id,
            name: name,
            tableName: tableName,
            key: key,
            isAsymmetric: isAsymmetric,
            columns: columns
        )
    }
}

extension ClassTable: Hashable {
    static func == (one: ClassTable, other: ClassTable) -> Bool {
        one === other
            || one.id == other.id && one.name == other.name && one.tableName == other.tableName
                && one.key == other.key && one.isAsymmetric == other.isAsymmetric
                && one.columns == other.columns
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(name)
    }
}
