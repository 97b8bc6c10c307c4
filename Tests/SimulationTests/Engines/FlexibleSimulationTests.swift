import Changesets
import Documents
import Permissions
import RealmSync
import SQLite
import Schemas
import Scopes
import Subscriptions
import TestSupport
import Testing
import Versions

@testable import SQLiteServerStore
@testable import ServerStore

/// Claims of flexible sync, 3 to 11, with the released engines of both programs.
@Suite("Agents with subscriptions and the server with its views, on a virtual clock and network")
struct FlexibleSimulationTests {
    @Test("end with the rows that their queries select, and each insert is there or was reported")
    func convergence() async throws {
        var coverage = EngineSimulation.Coverage()
        // The last ones have failed before.
        let seeds = Array(Seeds.some(60)) + [521]
        for seed in seeds {
            do {
                coverage += try await FlexibleTrial(seed: seed).run()
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        print("\(seeds.count) seeds of flexible sync: \(coverage)")
        #expect(coverage.writes > 0)
        #expect(coverage.happenings["rejected", default: 0] > 0)
        #expect(coverage.happenings["denied", default: 0] > 0)
    }
}

/// A query on entries, and the same condition in Swift.
struct SimulatedQuery: Sendable {
    let text: Text
    let selected: Set<Int64>

    /// The values of `writer` are 0 to 3.
    static let all = [
        SimulatedQuery(text: "TRUEPREDICATE", selected: [0, 1, 2, 3]),
        SimulatedQuery(text: "writer == 1", selected: [1]),
        SimulatedQuery(text: "writer > 1", selected: [2, 3]),
        SimulatedQuery(text: "writer IN {0, 3}", selected: [0, 3]),
        SimulatedQuery(text: "!(writer == 2)", selected: [0, 1, 3]),
        SimulatedQuery(text: "writer == 99", selected: []),
    ]
}

/// Roles that limit reading and writing, and the writers that a user may read.
struct SimulatedRoles: Sendable {
    let declarations: RoleDeclarations
    let readable: Set<Int64>

    static let all = [
        SimulatedRoles(read: .all, write: .all, readable: [0, 1, 2, 3]),
        SimulatedRoles(read: .all, write: .matching("writer < 3"), readable: [0, 1, 2, 3]),
        SimulatedRoles(
            read: .matching("writer != 1"),
            write: .matching("writer != 1"),
            readable: [0, 2, 3]
        ),
    ]

    private init(read: RolePermission, write: RolePermission, readable: Set<Int64>) {
        let role = RoleDeclaration(name: "all", read: read, write: write)
        self.declarations = RoleDeclarations(standard: [role])
        self.readable = readable
    }
}

/// One seed from the first write to the last check.
struct FlexibleTrial: Sendable {
    let seed: UInt64
    private let record = SimulationTrace.Record()

    init(seed: UInt64) {
        self.seed = seed
    }

    /// A committed insert.
    private struct Insert {
        let key: String
        let client: Int
    }

    /// The events, and the state that they lead to.
    private final class Course {
        var random: SplitMix64
        var roles = 0
        var nextKey = 0
        var inserted: [Insert] = []
        var coverage = EngineSimulation.Coverage()

        init(random: SplitMix64) {
            self.random = random
        }
    }

    func run() async throws -> EngineSimulation.Coverage {
        var random = SplitMix64(seed: seed)
        let simulation = try EngineSimulation(
            seed: random.next(),
            .init(
                clients: Int.random(in: 2...4, using: &random),
                roles: SimulatedRoles.all[0].declarations,
                record: record
            )
        )
        return try await simulation.time.run { [random] in
            let course = Course(random: random)
            try await simulation.server.start()
            for machine in simulation.machines { machine.start() }
            for _ in 0..<Int.random(in: 30...90, using: &course.random) {
                let pause = Int.random(in: 0...1500, using: &course.random)
                try await simulation.time.sleep(.milliseconds(pause))
                try await step(simulation, course)
            }
            try await settle(simulation, course)
            try await check(simulation, course)
            // No fault of a network, a process or a machine costs a client its file.
            let resets = record.lines.filter { $0.contains("client reset started") }
            #expect(resets.isEmpty, "seed \(seed): \(resets)")
            try await simulation.stop()
            return course.coverage
        }
    }

    // MARK: Events

    private func step(_ simulation: EngineSimulation, _ course: Course) async throws {
        let client = Int.random(in: simulation.machines.indices, using: &course.random)
        let machine = simulation.machines[client]
        let draw = Int.random(in: 0..<40, using: &course.random)
        switch draw {
        case 0..<20: try write(machine, course)
        case 20..<27: await subscribe(machine, course)
        case 27..<30: simulation.network.breakConnections(of: client)
        case 30: simulation.network.plug(client, isIn: false)
        case 31..<33: simulation.network.plug(client, isIn: true)
        case 33..<36: await end(machine, draw, course)
        case 36: try await restartServer(simulation, course)
        default: for machine in simulation.machines where !machine.isRunning { machine.start() }
        }
        course.coverage.count("event")
    }

    private func end(_ machine: SimulatedAgentMachine, _ draw: Int, _ course: Course) async {
        if draw == 33 {
            await machine.stop()
        } else {
            await machine.kill(withPower: false)
            course.coverage.count("killed")
        }
        if Bool.random(using: &course.random) { machine.start() }
    }

    /// Sometimes with other roles, which concerns every view.
    private func restartServer(
        _ simulation: EngineSimulation,
        _ course: Course
    ) async throws {
        let dying = Bool.random(using: &course.random)
        if dying { simulation.network.abandonServer(isHeard: Bool.random(using: &course.random)) }
        await simulation.server.stop(dying: dying)
        course.roles = Int.random(in: SimulatedRoles.all.indices, using: &course.random)
        simulation.server.setRoles(SimulatedRoles.all[course.roles].declarations)
        try await simulation.server.start()
        course.coverage.count("server restarted")
    }

    private func subscribe(_ machine: SimulatedAgentMachine, _ course: Course) async {
        let queries = SimulatedQuery.all.shuffled(using: &course.random).prefix(
            Int.random(in: 0...2, using: &course.random)
        )
        let isForced = Int.random(in: 0..<4, using: &course.random) == 0
        let operation = SubscriptionOperation.replaceAll(
            queries.map { SubscriptionContent(className: "Entry", query: $0.text) }
        )
        let committed = try? await machine.realm?.updateSubscriptions(
            [operation],
            isForced: isForced
        )
        course.coverage.count(committed == nil ? "subscription impossible" : "subscription")
    }

    private func write(_ machine: SimulatedAgentMachine, _ course: Course) throws {
        guard machine.hasFile else { return }
        let connection = try machine.connect()
        defer { connection.close() }
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'Entry'"
        guard try connection.integer(tables) == 1 else { return }
        course.nextKey += 1
        let statement = statement(course)
        if statement.sql.hasPrefix("DELETE") {
            // An insert that was not captured before its deletion never leaves the machine.
            for row in try connection.rows("SELECT max(_id) FROM Entry") {
                guard case .text(let key) = row[0] else { continue }
                course.inserted.removeAll { $0.key == key && $0.client == machine.number }
            }
        }
        do throws(SQLiteError) {
            try connection.execute(statement.sql)
        } catch {
            guard error.message.hasPrefix("Cannot write to class") else { throw error }
            return course.coverage.count("denied")
        }
        if let key = statement.insertedKey {
            course.inserted.append(Insert(key: key, client: machine.number))
        }
        course.coverage.writes += 1
        machine.noticeWrite()
    }

    private func statement(_ course: Course) -> (sql: String, insertedKey: String?) {
        let writer = Int.random(in: 0...3, using: &course.random)
        let first = "WHERE _id = (SELECT min(_id) FROM Entry)"
        let last = "WHERE _id = (SELECT max(_id) FROM Entry)"
        switch Int.random(in: 0..<6, using: &course.random) {
        case 0...2:
            let key = "entry-\(course.nextKey)"
            return ("INSERT INTO Entry VALUES ('\(key)', \(writer), 'new')", key)
        case 3: return ("UPDATE Entry SET writer = \(writer) \(first)", nil)
        case 4: return ("UPDATE Entry SET note = 'note-\(course.nextKey)' \(last)", nil)
        default: return ("DELETE FROM Entry \(last)", nil)
        }
    }

    // MARK: The end

    /// Ends all faults, and waits until all machines have what they subscribe to.
    private func settle(_ simulation: EngineSimulation, _ course: Course) async throws {
        try await simulation.settle()
        for machine in simulation.machines {
            let status = await machine.realm?.subscriptions()
            guard status?.latest.state == .complete else {
                throw EngineSimulation.Failure.notInSync(
                    client: machine.number,
                    "\(String(describing: status))"
                )
            }
        }
    }

    private func check(_ simulation: EngineSimulation, _ course: Course) async throws {
        let process = try #require(simulation.server.process)
        let server = try await process.store.contents(isFlexible: true)
        let entries = TableContents(server).objects["Entry"] ?? [:]
        let schema = try #require(server.schema["Entry"])
        let position = try #require(schema.position(of: "writer"))
        for machine in simulation.machines {
            let status = await machine.realm?.subscriptions()
            let texts = Set(try #require(status).active.subscriptions.map(\.query))
            let queries = SimulatedQuery.all.filter { texts.contains($0.text) }
            #expect(queries.count == texts.count, "seed \(seed): \(texts)")
            let selected = queries.reduce(into: Set<Int64>()) { $0.formUnion($1.selected) }
                .intersection(SimulatedRoles.all[course.roles].readable)
            let expected = entries.filter { _, document in
                guard case .scalar(.int(let writer)) = document.values[position] else {
                    return false
                }
                return selected.contains(writer)
            }
            let contents = try simulation.contents(of: machine, server.schema)
            #expect(
                contents.objects["Entry", default: [:]] == expected,
                "seed \(seed), client \(machine.number), \(texts)"
            )
        }
        try await checkInserts(simulation, process, course)
    }

    /// No insert is lost: the server had it, or the program can read why not.
    private func checkInserts(
        _ simulation: EngineSimulation,
        _ process: SimulatedServerProcess,
        _ course: Course
    ) async throws {
        for insert in course.inserted {
            let (key, client) = (insert.key, insert.client)
            let connection = try simulation.machines[client].connect()
            let rejects = try connection.integer(
                "SELECT count(*) FROM _realm_reject WHERE class = 'Entry' AND key = ?1",
                [.text(key)]
            )
            connection.close()
            if rejects != 0 { course.coverage.count("rejected") }
            let object = ObjectReference(className: "Entry", key: .string(Text(key)))
            let isKnown = try await process.store.hasEverHad(object)
            #expect(isKnown || rejects != 0, "seed \(seed), client \(client): \(key) is lost")
        }
    }
}

extension SQLiteStore {
    /// Whether the history of the flexible file ever had the object.
    fileprivate func hasEverHad(_ object: ObjectReference) async throws -> Bool {
        try await read { snapshot in
            guard let file = try snapshot.file(of: SimulatedServerMachine.app, .flexible) else {
                return false
            }
            return try !snapshot.touches(of: object, in: file.id, after: .zero).isEmpty
        }
    }
}
