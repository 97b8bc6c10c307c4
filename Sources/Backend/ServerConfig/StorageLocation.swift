/// The place of the store.
package enum StorageLocation: Hashable, Sendable, CustomStringConvertible {
    case sqlite(path: String)
    case postgreSQL(PostgreSQLLocation)

    /// Without secrets.
    package var description: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgreSQL(let location): location.description
        }
    }

    package static let standard = StorageLocation.sqlite(
        path: "/var/lib/realm-server/server.sqlite"
    )

    static let example = "sqlite:/var/lib/realm-server/server.sqlite"
}

/// The reason why a text names no store, without the text: it may hold a secret.
package struct BadStorageText: Error, Hashable, Sendable {
    package let problem: String
    package let remedy: String
    /// Whether the text holds a password.
    package let hasSecret: Bool

    init(_ problem: String, remedy: String, hasSecret: Bool = false) {
        self.problem = problem
        self.remedy = remedy
        self.hasSecret = hasSecret
    }
}

extension StorageLocation {
    /// Reads `sqlite:/PATH` or `postgresql://USER@HOST/DATABASE`.
    package init(text: String) throws(BadStorageText) {
        if let rest = PostgreSQLLocation.withoutScheme(text) {
            self = .postgreSQL(try PostgreSQLLocation(urlWithoutScheme: rest))
            return
        }
        let path = text.hasPrefix("sqlite:") ? text.dropFirst("sqlite:".count) : ""
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw BadStorageText(
                "names no store",
                remedy: "give sqlite: and an absolute path, such as \(Self.example), or "
                    + "postgresql: with its keys"
            )
        }
        self = .sqlite(path: String(path))
    }
}
