import Documents
import FaultInjection
import Logging
import Permissions
import Platform
import Scheduling
import Schemas
import TestSupport

@testable import Surroundings

/// The released engines in a simulated world: agents with realm files, the server with its store,
/// and between them a network that delays, breaks and fails silently; programs write SQL meanwhile,
/// processes die, and power fails. The seed decides on the order of events.
final class EngineSimulation: Sendable {
    let time: VirtualTime
    let server: SimulatedServerMachine
    let network: SimulatedNetwork
    let machines: [SimulatedAgentMachine]
    let directory: TemporaryDirectory
    let logger: Logger

    /// The moment at which everything begins, in milliseconds since 1970.
    static let start: Int64 = 1_772_600_767_000

    struct Setting: Sendable {
        var clients: Int
        var resetMode = "recover-unsynced-changes"
        var allowsRecovery = true
        /// Nil for sync by partition.
        var roles: RoleDeclarations?
        var record: SimulationTrace.Record?
    }

    init(seed: UInt64, _ setting: Setting) throws {
        var random = SplitMix64(seed: seed)
        let time = VirtualTime(seed: random.next())
        let now = { @Sendable in Self.start + time.now.inMilliseconds }
        let directory = try TemporaryDirectory(isInMemory: true)
        let logger = SimulationTrace.logger(time, in: directory.path, setting.record)
        let server = SimulatedServerMachine(
            time,
            in: directory,
            clock: WallClock(millisecondsSince1970: now),
            allowsRecovery: setting.allowsRecovery,
            roles: setting.roles,
            logger: logger,
            random: SplitMix64(seed: random.next())
        )
        let network = SimulatedNetwork(
            time,
            to: server,
            now: now,
            random: SplitMix64(seed: random.next())
        )
        self.machines = try (0..<setting.clients).map { number in
            var logger = logger
            logger[metadataKey: "machine"] = "\(number)"
            return try SimulatedAgentMachine(
                number,
                in: directory.file("machine-\(number)"),
                // One of them learns the schema from the others.
                schema: number == 1 ? nil : Ledger.schema,
                resetMode: setting.resetMode,
                isFlexible: setting.roles != nil,
                time,
                network,
                wallTime: { WallTime(millisecondsSince1970: now()) },
                logger: logger,
                random: SplitMix64(seed: random.next())
            )
        }
        let files = [server.files] + machines.map(\.files)
        time.follow { moment in
            for layer in files {
                layer.setTime(millisecondsSince1970: Self.start + moment.inMilliseconds)
            }
        }
        self.time = time
        self.server = server
        self.network = network
        self.directory = directory
        self.logger = logger
    }

    // MARK: The end

    enum Failure: Error {
        case notInSync(client: Int, String)
        case timersLeft(Int)
        case timersPileUp(Int, Int)
    }

    /// Ends all faults, and waits until all machines have everything.
    func settle() async throws {
        if server.process == nil { try await server.start() }
        for machine in machines {
            network.plug(machine.number, isIn: true)
            if !machine.isRunning { machine.start() }
        }
        try await server.process?.enableSync()
        // First everything is uploaded, then everything is downloaded.
        for _ in 0..<2 {
            for machine in machines { try await sync(machine) }
        }
        try await stayQuiet()
    }

    /// Healthy means that nothing accumulates: a minute later as many tasks wait as before.
    private func stayQuiet() async throws {
        try await time.sleep(.seconds(10))
        let before = time.sleeperCount
        try await time.sleep(.seconds(60))
        let after = time.sleeperCount
        if after > before + machines.count { throw Failure.timersPileUp(before, after) }
    }

    private func sync(_ machine: SimulatedAgentMachine) async throws {
        var obstacle: String?
        for _ in 0..<20 {
            obstacle = await machine.sync(timeout: .seconds(120))
            if obstacle == nil { return }
            // Does what is left to the owner.
            if await machine.needsReset { await machine.resetByHand(mode: "manual") }
            try await time.sleep(.seconds(5))
        }
        throw Failure.notInSync(client: machine.number, obstacle ?? "")
    }

    /// Ends all processes, which leave nothing behind.
    func stop() async throws {
        for machine in machines { await machine.stop() }
        await server.stop(dying: false)
        let sleepers = time.sleeperCount
        if sleepers > 0 { throw Failure.timersLeft(sleepers) }
    }

    /// The content of the clients' tables.
    func contents(of machine: SimulatedAgentMachine, _ schema: RealmSchema) throws -> TableContents
    {
        try TableContents(schema, machine.connect())
    }
}

extension Duration {
    var inMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
