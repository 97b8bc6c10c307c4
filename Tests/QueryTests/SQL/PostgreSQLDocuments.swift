import PostgreSQL
import PostgreSQLFixtures
import QuerySQL

/// Documents in PostgreSQL, in the form of the server's table of objects. Rows of other classes are
/// beside them: conditions must not fail on a document of another form.
final class PostgreSQLDocuments: DocumentTable {
    private let database: TestDatabase
    private let connection: PostgreSQL.Connection

    init(_ documents: [[UInt8]]) throws {
        database = try TestDatabase()
        connection = try database.connect()
        try connection.execute(
            """
            CREATE TABLE object (number int8 PRIMARY KEY, document jsonb NOT NULL);
            CREATE TABLE found (number int8, certain bool);
            """
        )
        for (number, document) in documents.enumerated() {
            try connection.run(
                "INSERT INTO object VALUES ($1, $2)",
                [.integer(Int64(number)), .document(document)]
            )
        }
        for (number, document) in Self.foreign.enumerated() {
            try connection.run(
                "INSERT INTO object VALUES ($1, $2)",
                [.integer(Int64(-1 - number)), .document(Array(document.utf8))]
            )
        }
    }

    private static let foreign = [
        "{}", "[]", "null", #""x""#,
        #"""
        {"count":"x","name":5,"owner":[1],"größe":{},"height":"q","with-dash":true,"int_r":"x",
        "l_int":5,"l_str":{}}
        """#,
    ]

    /// Steps have constant texts, and the text of a query varies: a script prepares and runs it.
    func matches(
        _ candidates: SQLCondition,
        _ certain: SQLCondition?
    ) throws -> (candidates: Set<Int>, certain: Set<Int>) {
        let parameters = candidates.parameters + (certain?.parameters ?? [])
        let arguments = parameters.map(Self.literal).joined(separator: ", ")
        try connection.execute(
            """
            TRUNCATE found;
            PREPARE query AS INSERT INTO found
            SELECT number, (\(certain?.text ?? "TRUE")) IS TRUE FROM object WHERE \(candidates.text);
            EXECUTE query\(arguments.isEmpty ? "" : "(\(arguments))");
            DEALLOCATE query;
            """
        )
        let rows = try connection.run("SELECT number, certain FROM found WHERE number >= 0")
        var found: Set<Int> = []
        var sure: Set<Int> = []
        for row in 0..<rows.count {
            let number = Int(try rows.integer(row, 0))
            found.insert(number)
            if try rows.bool(row, 1) { sure.insert(number) }
        }
        return (found, sure)
    }

    private static func literal(_ parameter: SQLParameter) -> String {
        switch parameter {
        case .integer(let number):
            return "'\(number)'"
        case .text(let text):
            let parts = text.split(separator: "'", omittingEmptySubsequences: false)
            return "'\(parts.joined(separator: "''"))'"
        }
    }
}
