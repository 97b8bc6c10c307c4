/// The state of a database before the store uses it, and what follows from it (server on PostgreSQL,
/// 6.6 and 8).
struct LayoutState: Hashable, Sendable {
    /// The server's name of the database's encoding.
    var encoding: String
    /// Tables, views and sequences in the store's schema.
    var relations: Int64
    /// The row of the table `layout`; nil where there is no such table, or no row in it.
    var row: Row?

    struct Row: Hashable, Sendable {
        var storeID: String
        var version: Int64
        var writableFrom: Int64
        var controlEpoch: Int64
        var movedTo: String?
    }

    /// The layout that this program makes, and the oldest program that can use it.
    static let version: Int64 = 1
    static let writableFrom: Int64 = 1

    /// When the store looks at the database.
    enum Occasion: Hashable, Sendable {
        /// Tables are made in an empty schema.
        case start
        /// The database is the same as before, or it is not used.
        case reconnection(storeID: String)
    }

    enum Decision: Hashable, Sendable {
        case create
        case use(Row)
        case refuse(LayoutProblem)
    }

    func decision(at occasion: Occasion) -> Decision {
        guard encoding == "UTF8" else { return .refuse(.encoding(encoding)) }
        guard let row else {
            switch (occasion, relations) {
            case (.start, 0): return .create
            case (.start, _): return .refuse(.otherTables(relations))
            case (.reconnection, _): return .refuse(.tablesAreGone)
            }
        }
        if let place = row.movedTo { return .refuse(.moved(to: place)) }
        guard row.version >= 1, row.writableFrom >= 1, row.writableFrom <= row.version else {
            return .refuse(.damaged)
        }
        guard row.writableFrom <= Self.version else {
            return .refuse(.newer(version: row.version, writableFrom: row.writableFrom))
        }
        if case .reconnection(let storeID) = occasion, storeID != row.storeID {
            return .refuse(.otherStore)
        }
        return .use(row)
    }
}
