import SQLite
import ServerStore

/// The mark of a store that was copied elsewhere, and is not served any more.
extension StoreLayout {
    /// Versions of this program that do not know the mark refuse the layout, too.
    private static let movedVersion: Int64 = -1

    /// The place that the store was copied to; nil if it was not.
    static func movedTo(_ connection: Connection) throws -> String? {
        guard try connection.integer("PRAGMA user_version") == movedVersion,
            let row = try connection.row("SELECT moved_to FROM moved")
        else { return nil }
        guard case .text(let place) = row.first else { return "another place" }
        return String(decoding: place.utf8, as: UTF8.self)
    }

    static func markMoved(_ connection: Connection, to place: String) throws {
        try connection.transaction {
            try connection.execute(
                "CREATE TABLE IF NOT EXISTS moved (moved_to TEXT NOT NULL) STRICT"
            )
            try connection.execute("DELETE FROM moved")
            try connection.run("INSERT INTO moved (moved_to) VALUES (?1)", [.text(place)])
            try connection.execute("PRAGMA user_version = \(movedVersion)")
        }
    }

    static func refuseMoved(_ connection: Connection) throws {
        guard let place = try movedTo(connection) else { return }
        throw StoreError(
            .unusable,
            "\(connection.path): the store was copied to \(place) and is not served here any more"
        )
    }
}
