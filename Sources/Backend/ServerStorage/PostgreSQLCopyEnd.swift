import PostgreSQL
import PostgreSQLServerStore
import ServerCluster

/// A store on PostgreSQL as an end of a copy.
final class PostgreSQLCopyEnd: CopyEnd {
    let place: String
    private let connection: Connection
    private let isTarget: Bool
    private let schema: String

    /// A table may take hours.
    private static let limit = Duration.seconds(86_400)

    init(_ target: Target, place: String, schema: String, isTarget: Bool) throws {
        self.place = place
        self.isTarget = isTarget
        self.schema = schema
        var target = target
        target.limits.statement = .zero
        target.limits.idleInTransaction = .zero
        target.limits.response = Self.limit
        connection = try Connection(target, deadline: .after(.seconds(10)))
        if try isTarget || isStore() {
            _ = try PostgreSQLLayout.prepare(connection, schema: schema)
        }
        try checkIsStopped()
    }

    private func isStore() throws -> Bool {
        let survey = try PostgreSQLLayout.survey(connection, schema: schema)
        return if case .found = survey { true } else { false }
    }

    private func checkIsStopped() throws {
        guard try isStore() else { return }
        let rows = try connection.run(
            """
            SELECT host FROM process WHERE seen_at > now() - make_interval(secs => $1::int8)
            LIMIT 1
            """,
            [.integer(ProcessLimits.aliveSeconds)]
        )
        guard rows.count > 0 else { return }
        throw StoreCopyFailure(
            "a server on \(try rows.string(0, 0)) uses \(place); stop all its processes, and wait "
                + "\(ProcessLimits.aliveSeconds) seconds"
        )
    }

    func movedTo() throws -> String? {
        switch try PostgreSQLLayout.survey(connection, schema: schema) {
        case .found: nil
        case .problem(.moved(let place)): place
        case .problem(let problem): throw problem
        case .empty: throw StoreCopyFailure("\(place) has no store")
        }
    }

    func isEmpty() throws -> Bool {
        let rows = try connection.run(
            """
            SELECT NOT EXISTS (SELECT FROM app) AND NOT EXISTS (SELECT FROM app_user)
                AND NOT EXISTS (SELECT FROM server_file) AND NOT EXISTS (SELECT FROM object)
            """
        )
        return try rows.bool(0, 0)
    }

    func begin() throws {
        try connection.execute(
            isTarget ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )
        guard !isTarget else { return }
        let behind = try connection.run(
            """
            SELECT count(*) FROM server_file f JOIN app a ON a.app_id = f.app_id
            WHERE f.generation < a.generation
            """
        )
        guard try behind.integer(0, 0) == 0 else {
            throw StoreCopyFailure(
                "a termination of sync is not finished; start the server for a while first"
            )
        }
    }

    func commit() throws {
        try connection.execute("COMMIT")
    }

    func markMoved(to place: String) throws {
        try connection.run("UPDATE layout SET moved_to = $1", [.string(place)])
    }

    func count(of table: CopiedTable) throws -> Int {
        Int(try connection.run(Step(once: table.count)).integer(0, 0))
    }

    /// New files get numbers behind those that were copied.
    func finish() throws {
        try connection.run(
            """
            SELECT setval(pg_get_serial_sequence('server_file', 'file_id'), max(file_id))
            FROM server_file HAVING max(file_id) IS NOT NULL
            """
        )
    }

    func rows(of table: CopiedTable) throws -> () throws -> [CopiedValue]? {
        try connection.pipeline([Step(once: table.cursor)])
        let connection = connection
        let fetch = { try connection.run(Step(once: table.fetch)) }
        var page = try fetch()
        var row = 0
        return {
            if row == page.count {
                guard page.count > 0 else { return nil }
                page = try fetch()
                row = 0
                guard page.count > 0 else { return nil }
            }
            defer { row += 1 }
            return try Self.values(of: table, page, row)
        }
    }

    private static func values(
        of table: CopiedTable,
        _ page: Rows,
        _ row: Int
    ) throws -> [CopiedValue] {
        var values: [CopiedValue] = []
        for (position, column) in table.columns.enumerated() {
            switch column.type {
            case .integer: values.append(.integer(try page.integer(row, position)))
            case .flag: values.append(.integer(try page.bool(row, position) ? 1 : 0))
            case .text, .document:
                let isNull = try page.isNull(row, position)
                values.append(.text(isNull ? nil : try page.bytes(row, position)))
            case .bytes, .objectKey: values.append(.bytes(try page.bytes(row, position)))
            }
        }
        return values
    }

    func add(_ next: () throws -> [CopiedValue]?, to table: CopiedTable) throws {
        try connection.copy(into: table.target, deadline: .after(Self.limit)) {
            try next().map { row in zip(table.columns.map(\.type), row).flatMap(Self.columns) }
        }
    }

    /// The columns of PostgreSQL for a value.
    private static func columns(_ column: CopiedTable.ColumnType, _ value: CopiedValue) -> [Value] {
        switch (column, value) {
        case (.flag, .integer(let number)): [.bool(number != 0)]
        case (_, .integer(let number)): [.integer(number)]
        case (.document, .text(let text)): [.document(text)]
        case (_, .text(let text)): [.text(text)]
        case (.objectKey, .bytes(let bytes)): columns(of: RowKey(storedKey: bytes))
        case (_, .bytes(let bytes)): [.bytes(bytes)]
        }
    }

    private static func columns(of key: RowKey) -> [Value] {
        [.bytes(key.key), .bytes(key.longKey)]
    }
}
