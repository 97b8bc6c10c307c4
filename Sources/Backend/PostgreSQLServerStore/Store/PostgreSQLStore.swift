package import Logging
package import PostgreSQL
import Scopes
package import ServerStore

/// The store in a PostgreSQL database, which several processes share (server on PostgreSQL).
///
/// Writes of one server file follow each other, and those that wait share a transaction. All others run
/// side by side, each on a lane.
package final class PostgreSQLStore: Store {
    package struct Options: Sendable {
        /// Connections for reads and writes; two more hold states.
        package var lanes = LaneLimits()
        /// Writes of one file that share a transaction.
        package var batch = BatchLimits()
        /// States that are held at a time, and how long each of them.
        package var heldStates = 2
        package var holdLimit = Duration.seconds(120)
        /// The longest time for one attempt to connect, over all hosts.
        package var connectLimit = Duration.seconds(5)
        /// The longest time to ask what became of a COMMIT without an answer.
        package var outcomeLimit = Duration.seconds(10)
        /// The time for work under way when the store is closed.
        package var closeLimit = Duration.seconds(10)

        /// Gets each new connection, for tests.
        package var observing: @Sendable (Connection) -> Void = { _ in }

        package init() {}
    }

    /// Made once; tells this store from a copy or an empty one.
    package let storeID: String
    /// The database, with the schema of the store.
    package let target: Target
    private let lanes: Lanes
    private let holders: Lanes
    private let files: FileWrites
    private let make: TransactionMaker
    private let options: Options

    /// Connects, and makes the tables in an empty schema.
    package static func open(
        _ target: Target,
        schema: String = "realm",
        _ options: Options = Options(),
        logger: Logger = Logger(label: "Server")
    ) async throws(StoreError) -> PostgreSQLStore {
        var target = target
        target.schema = schema
        do {
            let first = try Lanes(
                target,
                limits: LaneLimits(lanes: 1),
                connectLimit: options.connectLimit
            )
            let found: PostgreSQLLayout.Found
            do {
                found = try await first.perform { connection in
                    try PostgreSQLLayout.prepare(connection, schema: schema)
                }
            } catch {
                await first.close(within: .zero)
                throw error
            }
            await first.close(within: options.closeLimit)
            return try PostgreSQLStore(target, schema: schema, found, options, logger)
        } catch {
            throw StoreError(ofTransaction: error)
                ?? StoreError(.failed, "PostgreSQL cannot be used: \(error)")
        }
    }

    private init(
        _ target: Target,
        schema: String,
        _ found: PostgreSQLLayout.Found,
        _ options: Options,
        _ logger: Logger
    ) throws(PostgreSQLError) {
        storeID = found.storeID
        self.target = target
        self.options = options
        let schemas = SharedSchemas()
        let layout = PostgreSQLLayout.laneCheck(schema: schema, storeID: found.storeID)
        let check: Lanes.Check = { [observing = options.observing] connection throws(LaneFailure) in
            try layout(connection)
            // The database may have gone back to other schemas under the same versions.
            schemas.removeAll()
            observing(connection)
        }
        make = TransactionMaker(schemas: schemas, logger: logger)
        lanes = try Lanes(
            target,
            limits: options.lanes,
            connectLimit: options.connectLimit,
            outcomeLimit: options.outcomeLimit,
            check: check
        )
        var holding = target
        // Its borrower may compute for as long as it holds the state.
        holding.limits.idleInTransaction = options.holdLimit + .seconds(30)
        holders = try Lanes(
            holding,
            limits: LaneLimits(lanes: options.heldStates, waiting: options.lanes.waiting),
            connectLimit: options.connectLimit,
            check: check
        )
        files = FileWrites(lanes: lanes, make, limits: options.batch)
    }

    /// Lanes outlive what they belong to unless they are closed.
    deinit {
        lanes.beginToClose()
        holders.beginToClose()
    }

    package func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        do {
            switch request.scope {
            case .file(let file):
                return try await files.write(request, to: file, body)
            case .partition(let app, let partition):
                return try await transact(request, locking: (app, partition), body)
            case .accounts, .app:
                // Another process may have made the same row: the second run finds it.
                do {
                    return try await transact(request, body)
                } catch let error as PostgreSQLError where error.sqlState == "23505" {
                    return try await transact(request, body)
                }
            }
        } catch {
            throw StoreError(ofTransaction: error) ?? error
        }
    }

    /// Runs the body in a transaction of its own.
    private func transact<Outcome: Sendable>(
        _ request: WriteRequest,
        locking place: (app: AppID, partition: Partition)? = nil,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        var expected = ExpectedRows()
        if let place { expected.lock(place.partition, of: place.app) }
        expected.add(request, make.schemas)
        expected.finish()
        return try await lanes.transact(expected.steps) { [make, expected] open in
            let transaction = make.writing(on: open.connection)
            do {
                try expected.note(open.rows[...], in: transaction)
                try transaction.verify(request.session)
                transaction.buffer.beginBody()
                let outcome = try body(transaction)
                if let failure = transaction.runner.failure { throw failure }
                transaction.buffer.keepBody()
                open.writes = transaction.takeSteps()
                return outcome
            } catch {
                throw transaction.runner.failure ?? error
            }
        }
    }

    package func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        var expected = ExpectedRows()
        expected.add(request, make.schemas)
        expected.finish()
        do {
            return try await lanes.repeating { [lanes, make, expected] in
                try await lanes.perform { connection in
                    let reader = ExpectingReader(expected, session: request.session, make)
                    return try reader.read(on: connection, body)
                }
            }
        } catch {
            throw StoreError(ofTransaction: error) ?? error
        }
    }

    package func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        let held = HeldSnapshot(limit: options.holdLimit)
        async let lane: Void = serve(held)
        do {
            try await held.open()
            let outcome = try await body(held)
            held.end()
            await lane
            return outcome
        } catch {
            held.end()
            await lane
            throw error
        }
    }

    private func serve(_ held: HeldSnapshot) async {
        do {
            try await holders.perform { [make] connection in
                try held.serve(on: connection, make)
            }
        } catch {
            held.fail(
                StoreError(ofTransaction: error)
                    ?? StoreError(.failed, "no state is held: \(error)")
            )
        }
    }

    /// Lends a connection for work beside the contract of a store: views, jobs.
    ///
    /// A transaction that the body leaves open is rolled back.
    package func administer<Outcome: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Outcome
    ) async throws(StoreError) -> Outcome {
        do {
            return try await lanes.perform(body)
        } catch {
            throw StoreError(ofTransaction: error)
                ?? StoreError(.failed, "PostgreSQL: \(error); try again")
        }
    }

    /// Writes of a file that wait or run, for tests.
    func waitingWrites(of file: ServerFileID) -> Int {
        files.count(of: file)
    }

    /// Lends a connection of the lanes, for tests.
    func withConnection<Outcome: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Outcome
    ) async throws -> Outcome {
        try await lanes.perform(body)
    }

    /// Ends all connections; later calls throw errors.
    package func close() async {
        await lanes.close(within: options.closeLimit)
        await holders.close(within: options.closeLimit)
    }
}
