internal import Glibc
internal import SQLite

extension RealmFile {
    /// Lends a read-only connection for looking at a realm file beside a running agent, without
    /// opening it as an agent does.
    static func reading<Result>(
        _ path: String,
        _ body: (Connection) throws -> Result
    ) throws(LocalRealmError) -> Result {
        try mappingErrors(path) {
            guard access(path, F_OK) == 0 else {
                let problem = String(cString: strerror(errno)).lowercased()
                throw LocalRealmError(.cannotOpen, path: path, problem)
            }
            let connection = try Connection(path: path, .init(mode: .readOnly))
            defer { connection.close() }
            guard let layout = try RealmStateRow.layoutVersion(on: connection) else {
                throw LocalRealmError(.notARealm, path: path, "the file is not a local realm")
            }
            guard layout <= Layout.version else {
                throw LocalRealmError(.newerLayout, path: path, "the file has layout \(layout)")
            }
            return try body(connection)
        }
    }
}
