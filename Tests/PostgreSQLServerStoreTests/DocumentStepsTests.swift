import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

@testable import PostgreSQLServerStore

@Suite(
    "Documents of a transaction, in the database",
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct DocumentStepsTests {
    let database: TestDatabase
    let connection: Connection

    init() throws {
        database = try TestDatabase()
        var target = database.target()
        target.schema = "realm"
        connection = try Connection(target, deadline: .after(.seconds(60)))
        _ = try PostgreSQLLayout.prepare(connection, schema: "realm")
    }

    /// Rows of two classes; some keys are long.
    private let rows: [ObjectRow] = (0..<60).map { number in
        let key = [2] + [UInt8](repeating: UInt8(number), count: number % 6 == 0 ? 2000 : 3)
        return ObjectRow(className: [UInt8(65 + number % 2)], storedKey: key)
    }

    private func read(_ rows: [ObjectRow], in file: Int64) throws -> DocumentBuffer {
        var buffer = DocumentBuffer()
        let found = try connection.pipeline([DocumentBuffer.reading(rows, in: file)])
        try buffer.note(StoredRows(found[0]), of: rows)
        return buffer
    }

    @Test("Random bodies, kept and dropped, sent in pieces, leave what a plain dictionary holds")
    func property() throws {
        for seed in UInt64(0)..<12 {
            var random = SplitMix64(seed: seed)
            let file = Int64(seed + 1)
            var model: [ObjectRow: DocumentBuffer.Content] = [:]
            for row in rows { model[row] = .absent }
            for _ in 0..<6 {
                // One transaction; what it touches is partly read before.
                let expected = rows.filter { _ in Bool.random(using: &random) }
                var buffer = try read(expected, in: file)
                for row in expected { #expect(buffer.content(of: row) == model[row]) }
                for _ in 0..<5 {
                    buffer.beginLayer()
                    var layer = model
                    for _ in 0..<20 {
                        guard let row = rows.randomElement(using: &random) else { continue }
                        let number = Int.random(in: 0..<1000, using: &random)
                        let content: DocumentBuffer.Content =
                            number < 300 ? .absent : .document(Array("\(number)".utf8))
                        buffer.write(content, to: row)
                        layer[row] = content
                    }
                    if Int.random(in: 0..<3, using: &random) == 0 {
                        buffer.dropLayer()
                    } else {
                        buffer.keepLayer()
                        model = layer
                    }
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        try connection.pipeline(buffer.steps(in: file))
                        buffer.didSend()
                    }
                }
                try connection.pipeline(buffer.steps(in: file))
            }
            let stored = try read(rows, in: file)
            for row in rows { #expect(stored.content(of: row) == model[row], "seed \(seed)") }
            let count = try connection.run(
                "SELECT count(*) FROM object WHERE file_id = $1",
                [.integer(file)]
            )
            #expect(try count.integer(0, 0) == Int64(model.values.filter { $0 != .absent }.count))
        }
    }

    @Test("Another file is not touched")
    func files() throws {
        for file in Int64(1)...2 {
            var buffer = DocumentBuffer()
            buffer.beginLayer()
            buffer.write(.document(Array("\(file)".utf8)), to: rows[0])
            buffer.keepLayer()
            try connection.pipeline(buffer.steps(in: file))
        }
        var buffer = DocumentBuffer()
        buffer.beginLayer()
        buffer.write(.absent, to: rows[0])
        buffer.keepLayer()
        try connection.pipeline(buffer.steps(in: 1))
        #expect(try read([rows[0]], in: 1).content(of: rows[0]) == .absent)
        #expect(try read([rows[0]], in: 2).content(of: rows[0]) == .document([50]))
    }

    @Test("No row is found by reading others, with empty, old and fresh statistics")
    func plans() throws {
        var buffer = DocumentBuffer()
        buffer.beginLayer()
        buffer.write(.absent, to: rows[0])
        buffer.keepLayer()
        let removal = try #require(buffer.steps(in: 1).first)
        let reading = DocumentBuffer.reading([rows[0]], in: 1)
        for (name, step) in [("reading", reading), ("removal", removal)] {
            try connection.execute("PREPARE \(name) (int8, text[], bytea[]) AS \(step.text.sql)")
        }
        /// Scans of the table, except those by the whole key or by the place of a row.
        func scans() throws -> [String] {
            try ["reading", "removal"].flatMap { name in
                let explained: StaticString =
                    name == "reading"
                    ? "EXPLAIN (COSTS OFF) EXECUTE reading (1, '{A}', '{a}')"
                    : "EXPLAIN (COSTS OFF) EXECUTE removal (1, '{A}', '{a}')"
                let plan = try connection.run(explained)
                let lines = try (0..<plan.count).map { try plan.string($0, 0) }
                let conditions = lines.filter { $0.contains("Index Cond") }
                #expect(conditions.count == 1)
                return lines.filter { $0.contains("Seq Scan") }
                    + conditions.filter { line in
                        !["file_id = $1", "class = u.class", "key = u.key"].allSatisfy {
                            line.contains($0)
                        }
                    }
            }
        }
        #expect(try scans() == [])
        try connection.execute("ANALYZE object")
        try connection.execute(
            """
            INSERT INTO object SELECT 1, 'A', int8send(n), '{}' FROM generate_series(1, 20000) n
            """
        )
        #expect(try scans() == [])
        try connection.execute("ANALYZE object")
        #expect(try scans() == [])
    }
}
