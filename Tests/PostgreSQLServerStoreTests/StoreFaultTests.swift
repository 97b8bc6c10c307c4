import Changesets
import PostgreSQL
import PostgreSQLFixtures
import Scopes
import ServerFixtures
import ServerStore
import TestSupport
import Testing
import Versions

@testable import PostgreSQLServerStore

/// A fault at every moment of every round trip of some work: its outcome is that of the run without.
@Suite(
    "Store on PostgreSQL: faults",
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct StoreFaultTests {
    enum Fault: CaseIterable, CustomStringConvertible {
        case cut
        case termination
        case conflict
        case fullDisk

        var description: String {
            switch self {
            case .cut: "a cut network"
            case .termination: "a terminated backend"
            case .conflict: "40001"
            case .fullDisk: "53100"
            }
        }

        /// A statement cannot fail after the server's answer.
        var moments: [Connection.Moment] {
            switch self {
            case .cut: [.beforeSending, .sent, .answered]
            case .termination: [.beforeSending, .answered]
            case .conflict, .fullDisk: [.beforeSending]
            }
        }

        /// Throws the error of a statement.
        func strike(_ connection: Connection, _ other: Connection) throws(PostgreSQLError) {
            switch self {
            case .cut: connection.cut()
            case .termination:
                try other.run(
                    "SELECT pg_terminate_backend($1::int8::int4, 60000)",
                    [.integer(Int64(connection.backendID))]
                )
            case .conflict: try connection.execute(Self.raising("40001"))
            case .fullDisk: try connection.execute(Self.raising("53100"))
            }
        }

        private static func raising(_ state: String) -> String {
            "DO $$ BEGIN RAISE EXCEPTION 'as the test wants' USING ERRCODE = '\(state)'; END $$"
        }
    }

    /// Counts the moments of all connections, and strikes at one of them.
    private struct Plan: Sendable {
        let moment: Connection.Moment
        let fault: Fault?
        var number: Int
        var seen = 0
        var isStruck = false
    }

    /// Repeats a call as its callers do, after failures that pass.
    @discardableResult
    private func insist<Outcome: Sendable>(
        _ body: () async throws -> Outcome
    ) async throws -> Outcome {
        for _ in 0..<3 {
            do {
                return try await body()
            } catch let error as StoreError
                where [.diskFull, .unreachable, .locked].contains(error.kind)
            {
                continue
            }
        }
        return try await body()
    }

    /// The work: writes of several kinds, and reads; returns what the reads saw.
    private func work(_ store: PostgreSQLStore, _ world: StoreWorld) async throws -> [String] {
        let file = try await insist { try await world.file(store) }
        try await insist { try await StoreWorld.upload([1, 2, 3], into: file, store) }
        try await insist {
            try await StoreWorld.upload([4], into: file, store, expecting: false)
        }
        try await insist {
            try await store.write(.file(file)) { transaction in
                // Sends a part of the writes before the others.
                try transaction.putDocument(
                    StoreWorld.document(9),
                    of: StoreWorld.object(9),
                    in: file
                )
                _ = try transaction.objectCounts(in: file)
                try transaction.removeDocument(StoreWorld.object(2), in: file)
                try transaction.trimHistory(of: file, upTo: ServerVersion(1))
            }
        }
        let counts = try await insist {
            try await store.holdingState { held in
                try await held.read { try $0.objectCounts(in: file)["Task"] }
            }
        }
        let reads = ExpectedReads(file: .id(file), client: StoreWorld.ident)
        let client = try await insist {
            try await store.read(expecting: reads) { snapshot in
                _ = try snapshot.file(file)
                return try snapshot.clientFile(StoreWorld.ident, in: file)
            }
        }
        return ["\(counts ?? 0)", "\(client?.upload.clientVersion.rawValue ?? 0)"]
    }

    private func run(
        _ world: StoreWorld,
        _ moment: Connection.Moment,
        _ number: Int,
        _ fault: Fault?
    ) async throws -> (outcome: [String], moments: Int) {
        try world.clear()
        let plan = Shared(Plan(moment: moment, fault: fault, number: number))
        let target = world.database.target()
        let store = try await world.store(lanes: 1) { _, options in
            options.observing = { connection in
                connection.observer = { [unowned connection] now throws(PostgreSQLError) in
                    var strikes = false
                    plan.change { plan in
                        guard now == plan.moment else { return }
                        plan.seen += 1
                        strikes = plan.seen == plan.number && !plan.isStruck
                        if strikes { plan.isStruck = true }
                    }
                    guard strikes, let fault else { return }
                    let other = try Connection(target, deadline: .after(.seconds(60)))
                    try fault.strike(connection, other)
                }
            }
        }
        let seen = try await work(store, world)
        await store.close()
        #expect(fault == nil || plan.value.isStruck)
        return (seen + (try world.state()), plan.value.seen)
    }

    @Test("A fault at any moment of any round trip changes neither the state nor the reads")
    func faults() async throws {
        let world = try StoreWorld()
        for fault in Fault.allCases {
            for moment in fault.moments {
                let (expected, moments) = try await run(world, moment, 0, nil)
                #expect(moments > 10)
                for number in 1...moments {
                    let (outcome, _) = try await run(world, moment, number, fault)
                    #expect(outcome == expected, "\(fault), \(moment) of round trip \(number)")
                }
            }
        }
    }
}
