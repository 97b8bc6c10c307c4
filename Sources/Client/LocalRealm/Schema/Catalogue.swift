internal import Changesets
internal import Schemas

/// The classes of a realm with their tables, as `_realm_class` and `_realm_property` have them.
struct Catalogue: Hashable {
    var schema = RealmSchema()
    /// The part that the server has, or will have once the history is uploaded.
    var published = RealmSchema()
    /// Those with a subscription in the latest set; nil unless the realm uses flexible sync.
    var subscribedClasses: Set<Text>?
    /// Whether programs may only read.
    var isReadOnly = false
    /// Of the classes whose objects have keys; embedded objects are in the columns of others.
    private(set) var tables: [ClassTable] = []
    /// The numbers of all classes in `_realm_class`.
    private(set) var classIDs: [Text: Int64] = [:]
    private(set) var classNames: [Int64: Text] = [:]
    private var positionsByName: [Text: Int] = [:]
    private var positionsByID: [Int64: Int] = [:]

    subscript(position: Int) -> ClassTable {
        get { tables[position] }
        set { tables[position] = newValue }
    }

    /// Whether programs may not insert objects, since no subscription would keep them (flexible sync,
    /// 10).
    func deniesInserts(into table: ClassTable) -> Bool {
        guard let subscribedClasses, !table.isAsymmetric else { return false }
        return !subscribedClasses.contains(table.name)
    }

    var hasAsymmetricClasses: Bool { tables.contains(where: \.isAsymmetric) }

    func position(of name: Text) -> Int? {
        positionsByName[name]
    }

    func position(ofID id: Int64) -> Int? {
        positionsByID[id]
    }

    /// Records the number of a class of any kind.
    mutating func register(_ name: Text, id: Int64) {
        classIDs[name] = id
        classNames[id] = name
    }

    mutating func unregister(_ name: Text) {
        guard let id = classIDs.removeValue(forKey: name) else { return }
        classNames[id] = nil
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

    /// The link columns that point to a class; those of asymmetric classes are deleted before they
    /// matter.
    func referrers(to name: Text) -> [(table: Int, column: Int)] {
        tables.indices.filter { !tables[$0].isAsymmetric }.flatMap { table in
            tables[table].columns.indices.compactMap { column in
                guard case .link(let target) = tables[table].columns[column].type,
                    target.className == name
                else { return nil }
                return (table, column)
            }
        }
    }

    /// The columns of a table whose JSON may hold links.
    func linkHoldingColumns(of table: ClassTable) -> [Int] {
        table.columns.indices.filter { schema.mayHoldLinksInJSON(table.columns[$0].property) }
    }
}
