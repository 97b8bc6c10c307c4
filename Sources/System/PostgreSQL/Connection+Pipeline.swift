internal import CPostgres

extension Connection {
    /// Runs the steps in order, in one round trip with one sync at the end.
    ///
    /// Without `BEGIN` among them they are one transaction. The first that fails ends the pipeline: the
    /// later ones are skipped, and the error names its position. An open transaction is `.failed` then.
    ///
    /// - Parameter deadline: nil means the target's `limits.response` from now.
    /// - Returns: the rows of each step.
    @discardableResult
    package func pipeline(
        _ steps: [Step],
        deadline: Deadline? = nil
    ) throws(PostgreSQLError) -> [Rows] {
        guard !steps.isEmpty else { return [] }
        let deadline = deadline ?? .after(responseLimit)
        // All of it is encoded before the first byte is sent.
        var parameters: [ParameterList] = []
        parameters.reserveCapacity(steps.count)
        for step in steps { parameters.append(try ParameterList(step.values)) }
        roundTrips += 1
        try observer?(.beforeSending)
        let rows = try exchange { handle throws(PostgreSQLError) in
            guard PQenterPipelineMode(handle) == 1 else {
                throw Self.confused("the connection is not ready for a pipeline")
            }
            var run = PipelineRun(steps: steps)
            try send(&run, parameters, on: handle, until: deadline)
            try observer?(.sent)
            try collect(&run, on: handle, until: deadline)
            guard PQexitPipelineMode(handle) == 1 else {
                throw Self.confused("the server sent more than was asked for")
            }
            if let failure = run.failure { throw failure }
            return run.rows
        }
        try observer?(.answered)
        return rows
    }

    /// The rows of one step.
    @discardableResult
    package func run(
        _ sql: StaticString,
        _ values: [Value] = [],
        deadline: Deadline? = nil
    ) throws(PostgreSQLError) -> Rows {
        try run(Step(sql, values), deadline: deadline)
    }

    @discardableResult
    package func run(_ step: Step, deadline: Deadline? = nil) throws(PostgreSQLError) -> Rows {
        let rows = try pipeline([step], deadline: deadline)
        guard let rows = rows.first else { throw .malformed("a statement has no result") }
        return rows
    }

    // MARK: Sending

    private func send(
        _ run: inout PipelineRun,
        _ parameters: [ParameterList],
        on handle: OpaquePointer,
        until deadline: Deadline
    ) throws(PostgreSQLError) {
        var new: [StatementKey: String] = [:]
        for (index, step) in run.steps.enumerated() {
            switch step.text {
            case .made(let sql):
                try send(sql, step.values.map(\.type), parameters[index], on: handle)
            case .fixed(let sql):
                let key = StatementKey(text: sql.utf8Start, types: step.values.map(\.type))
                let name: String
                if let known = prepared[key] ?? new[key] {
                    name = known
                } else {
                    preparedCount += 1
                    name = "s\(preparedCount)"
                    new[key] = name
                    try prepare(name, sql, key.types, on: handle)
                    run.expected.append(.preparation(step: index, key, name: name))
                }
                let isSent = parameters[index].withArrays { values, lengths, formats in
                    PQsendQueryPrepared(
                        handle,
                        name,
                        Int32(values.count),
                        values,
                        lengths,
                        formats,
                        1
                    )
                }
                guard isSent == 1 else { throw Self.lost(handle) }
            }
            run.expected.append(.rows(step: index))
        }
        guard PQpipelineSync(handle) == 1 else { throw Self.lost(handle) }
        try flush(handle, until: deadline)
    }

    private func send(
        _ sql: String,
        _ types: [TypeID],
        _ parameters: ParameterList,
        on handle: OpaquePointer
    ) throws(PostgreSQLError) {
        // The library would end the text there.
        guard !sql.utf8.contains(0) else { throw .malformed("a statement contains U+0000") }
        let types = types.map(\.rawValue)
        let isSent = parameters.withArrays { values, lengths, formats in
            PQsendQueryParams(
                handle,
                sql,
                Int32(values.count),
                types,
                values,
                lengths,
                formats,
                1
            )
        }
        guard isSent == 1 else { throw Self.lost(handle) }
    }

    private func prepare(
        _ name: String,
        _ sql: StaticString,
        _ types: [TypeID],
        on handle: OpaquePointer
    ) throws(PostgreSQLError) {
        let types = types.map(\.rawValue)
        guard PQsendPrepare(handle, name, sql.description, Int32(types.count), types) == 1 else {
            throw Self.lost(handle)
        }
    }

    // MARK: Receiving

    private func collect(
        _ run: inout PipelineRun,
        on handle: OpaquePointer,
        until deadline: Deadline
    ) throws(PostgreSQLError) {
        for expected in run.expected {
            do throws(PostgreSQLError) {
                try collect(expected, into: &run, on: handle, until: deadline)
            } catch {
                // A server that ends the connection says why first.
                throw run.failure?.losingConnection ?? error
            }
        }
        do throws(PostgreSQLError) {
            guard let result = try nextResult(handle, until: deadline) else {
                throw Self.confused("a pipeline has no end")
            }
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_PIPELINE_SYNC else {
                throw Self.confused("a pipeline has more results than steps")
            }
        } catch {
            throw run.failure?.losingConnection ?? error
        }
    }

    private func collect(
        _ expected: PipelineRun.Expected,
        into run: inout PipelineRun,
        on handle: OpaquePointer,
        until deadline: Deadline
    ) throws(PostgreSQLError) {
        guard let result = try nextResult(handle, until: deadline) else {
            throw Self.confused("a step has no result")
        }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            switch expected {
            case .preparation(_, let key, let name):
                PQclear(result)
                prepared[key] = name
            case .rows:
                run.rows.append(Rows(result))
            }
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            guard run.failure != nil else {
                throw Self.confused("a step was skipped without an error")
            }
        case PGRES_FATAL_ERROR:
            defer { PQclear(result) }
            let error = PostgreSQLError(result: result, step: expected.step)
            if run.failure == nil { run.failure = error }
            guard error.sqlState != nil else { throw error }
        default:
            PQclear(result)
            throw Self.confused("a step has a result of an unexpected kind")
        }
        if let second = try nextResult(handle, until: deadline) {
            PQclear(second)
            throw Self.confused("a step has two results")
        }
    }
}

/// The progress of one pipeline.
private struct PipelineRun {
    let steps: [Step]
    var expected: [Expected] = []
    var rows: [Rows] = []
    var failure: PostgreSQLError?

    init(steps: [Step]) {
        self.steps = steps
    }

    enum Expected {
        case preparation(step: Int, Connection.StatementKey, name: String)
        case rows(step: Int)

        var step: Int {
            switch self {
            case .preparation(let step, _, _), .rows(let step): step
            }
        }
    }
}
