import FaultInjection
import Logging
import SQLite
import SyncProtocol
import TestSupport
import Versions

@testable import ServerStore
@testable import SyncServer

/// The events of the machines, each at its moment.
extension EngineSimulation {
    enum Happening: Hashable, Sendable {
        /// A program writes.
        case write(client: Int)
        /// Messages in transit are lost; either end may still consider the connection open.
        case breakConnections(client: Int)
        case unplug(client: Int, forSeconds: Int)
        case restartAgent(client: Int, afterSeconds: Int)
        case killAgent(client: Int, afterSeconds: Int)
        case cutPower(client: Int, afterSeconds: Int)
        case restartServer(dying: Bool, afterSeconds: Int)
        /// Nothing can be written to the disk for a while.
        case fillDisk(client: Int, forSeconds: Int)
        case fillServerDisk(forSeconds: Int)
        /// The server trims history that no client needs.
        case trim
        case reset(ResetHappening)
    }

    struct Event: Sendable {
        let moment: Duration
        let happening: Happening
    }

    /// Counts of the events that the simulation is for.
    struct Coverage: Sendable, CustomStringConvertible {
        var happenings: [String: Int] = [:]
        /// Committed changes of programs.
        var writes = 0
        var connections = 0

        mutating func count(_ happening: Happening) {
            var text = "\(happening)"
            if case .reset(let happening) = happening { text = "\(happening)" }
            count(String(text.prefix { $0 != "(" }))
        }

        mutating func count(_ happening: String) {
            happenings[happening, default: 0] += 1
        }

        var description: String {
            let counts = happenings.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            return "\(writes) committed changes, \(connections) connections, "
                + counts.joined(separator: ", ")
        }

        static func += (left: inout Coverage, right: Coverage) {
            left.happenings.merge(right.happenings, uniquingKeysWith: +)
            left.writes += right.writes
            left.connections += right.connections
        }
    }

    /// A minute of writes and mishaps.
    func script(
        writes: Int,
        mishaps: Int,
        resets: Int = 0,
        using random: inout SplitMix64
    ) -> [Event] {
        var events: [Event] = []
        func add(_ happening: Happening, _ milliseconds: Range<Int> = 0..<60_000) {
            let moment = Int.random(in: milliseconds, using: &random)
            events.append(Event(moment: .milliseconds(moment), happening: happening))
        }
        for client in machines.indices {
            for _ in 0..<writes { add(.write(client: client)) }
        }
        for _ in 0..<mishaps { add(mishap(using: &random)) }
        for _ in 0..<resets {
            // A copy is made before it is needed.
            let parts = Self.resetHappening(clients: machines.count, using: &random)
            for (number, part) in parts.enumerated() {
                let length = 60_000 / parts.count
                add(.reset(part), number * length..<(number + 1) * length)
                guard number == parts.count - 1, let moment = events.last?.moment else { continue }
                // Programs ignore it.
                let start = Int(moment.inMilliseconds)
                for client in machines.indices {
                    for _ in 0..<3 { add(.write(client: client), start..<start + 1_500) }
                }
            }
        }
        return events.sorted { $0.moment < $1.moment }
    }

    private func mishap(using random: inout SplitMix64) -> Happening {
        let client = Int.random(in: machines.indices, using: &random)
        let seconds = Int.random(in: 0...15, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2: return .breakConnections(client: client)
        case 3: return .unplug(client: client, forSeconds: seconds)
        case 4: return .restartAgent(client: client, afterSeconds: seconds)
        case 5: return .killAgent(client: client, afterSeconds: seconds)
        case 6: return .cutPower(client: client, afterSeconds: seconds)
        case 7: return .restartServer(dying: false, afterSeconds: seconds)
        case 8: return .restartServer(dying: true, afterSeconds: seconds)
        case 9: return .fillDisk(client: client, forSeconds: seconds)
        case 10: return .fillServerDisk(forSeconds: seconds)
        default: return .trim
        }
    }

    /// Runs the script; processes are restarted automatically at their time.
    func play(
        _ script: [Event],
        _ ledger: inout Ledger,
        using random: inout SplitMix64
    ) async throws -> Coverage {
        var coverage = Coverage()
        try await withThrowingDiscardingTaskGroup { group in
            for event in script {
                if event.moment > time.now { try await time.sleep(event.moment - time.now) }
                coverage.count(event.happening)
                logger.debug("happening", metadata: ["what": "\(event.happening)"])
                do {
                    if case .write(let client) = event.happening {
                        try write(machines[client], &ledger, &random)
                    } else if let later = try await carryOut(event.happening, &ledger) {
                        group.addTask {
                            try await self.time.sleep(later.delay)
                            try await later.work()
                        }
                    }
                } catch let error where Self.isDiskFull(error) {
                    // The command reported its failure.
                    coverage.count("refused by a full disk")
                }
            }
        }
        coverage.writes = ledger.writeCount
        coverage.connections = network.connectionCount
        return coverage
    }

    private func write(
        _ machine: SimulatedAgentMachine,
        _ ledger: inout Ledger,
        _ random: inout SplitMix64
    ) throws {
        guard machine.hasFile else { return }
        let connection = try machine.connect()
        defer { connection.close() }
        // Not before the tables are learned.
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('Entry', 'Tally')"
        guard try connection.integer(tables) == 2 else { return }
        if machine.number == 0 { try ledger.begin(on: connection) }
        if try ledger.write(
            machine.number,
            on: connection,
            countsUp: machine.declaresSchema,
            using: &random
        ) {
            machine.noticeWrite()
            logger.debug("write", metadata: ["what": "\(ledger.lastWrite)"])
        }
    }

    /// An automatic consequence.
    typealias Later = (delay: Duration, work: @Sendable () async throws -> Void)

    private func carryOut(_ happening: Happening, _ ledger: inout Ledger) async throws -> Later? {
        switch happening {
        case .write:
            return nil
        case .breakConnections(let client):
            network.breakConnections(of: client)
        case .unplug(let client, let seconds):
            network.plug(client, isIn: false)
            return (.seconds(seconds), { self.network.plug(client, isIn: true) })
        case .restartAgent(let client, let seconds):
            await machines[client].stop()
            return comeBack(client, seconds)
        case .killAgent(let client, let seconds):
            await machines[client].kill(withPower: false)
            return comeBack(client, seconds)
        case .cutPower(let client, let seconds):
            await machines[client].kill(withPower: true, survivorsInPercent: seconds * 7 % 101)
            return comeBack(client, seconds)
        case .restartServer(let dying, let seconds):
            if dying { network.abandonServer(isHeard: seconds % 2 == 0) }
            await server.stop(dying: dying)
            return startServer(seconds)
        case .fillDisk(let client, let seconds):
            return fill(machines[client].files, seconds)
        case .fillServerDisk(let seconds):
            return fill(server.files, seconds)
        case .reset(let happening):
            return try await carryOut(happening, &ledger)
        case .trim:
            try await server.process?.engine.upkeep.trim(
                SimulatedServerMachine.app,
                offlineLimitInMilliseconds: 3_600_000,
                connected: []
            )
        }
        return nil
    }

    /// A process that dies meanwhile ends the fault with its own file layer.
    private func fill(_ disk: FaultyFiles, _ seconds: Int) -> Later {
        disk.arm(.diskFull, at: 1)
        return (.seconds(seconds), { disk.heal(from: .diskFull) })
    }

    static func isDiskFull(_ error: any Error) -> Bool {
        (error as? SQLiteError)?.condition == .diskFull
            || (error as? StoreError)?.kind == .diskFull
    }

    func startServer(_ seconds: Int) -> Later {
        insist(after: seconds) {
            if self.server.process == nil { try await self.server.start() }
        }
    }

    /// Service managers, and persistent operators, try again until there is room for it.
    func insist(
        after seconds: Int,
        _ work: @escaping @Sendable () async throws -> Void
    ) -> Later {
        (
            .seconds(seconds),
            {
                while true {
                    do {
                        return try await work()
                    } catch let error where Self.isDiskFull(error) {
                        try await self.time.sleep(.seconds(1))
                    }
                }
            }
        )
    }

    func comeBack(_ client: Int, _ seconds: Int) -> Later {
        (
            .seconds(seconds),
            { if !self.machines[client].isRunning { self.machines[client].start() } }
        )
    }
}
