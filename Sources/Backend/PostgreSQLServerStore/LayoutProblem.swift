/// The reason why a database cannot be used as the store; an administrator must act.
package enum LayoutProblem: Error, Hashable, Sendable {
    case encoding(String)
    /// The schema has tables, but not those of a store.
    case otherTables(Int64)
    case newer(version: Int64, writableFrom: Int64)
    case moved(to: String)
    case damaged
    /// The store was there before, and is not now.
    case tablesAreGone
    /// Another store than before: an empty one, or a copy.
    case otherStore
}

extension LayoutProblem: CustomStringConvertible {
    /// The problem and its remedy.
    package var description: String {
        switch self {
        case .encoding(let name):
            "the database has the encoding \(name); create it with ENCODING 'UTF8'"
        case .otherTables(let count):
            "the schema holds \(count) tables, views or sequences, but not a store of realm-server; "
                + "name another schema, or an empty one"
        case .newer(let version, let writableFrom):
            "the store has layout \(version), which programs of layout \(writableFrom) or later can "
                + "use, and this version of realm-server knows layout \(LayoutState.version); install "
                + "the version that upgraded it, or restore a backup of before"
        case .moved(let place):
            "the store was copied to \(place) and is not served here any more"
        case .damaged:
            "the table layout of the store is damaged; restore a backup"
        case .tablesAreGone:
            "the tables of the store are gone; restore a backup, or restart realm-server to begin with "
                + "an empty store"
        case .otherStore:
            "the database holds another store than before; restart realm-server if that is intended"
        }
    }
}
