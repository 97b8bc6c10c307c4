import Documents
import SyncProtocol
import TestSupport
import Versions

@testable import ServerStore
@testable import SyncServer

/// Client sessions and the server's connections, which exchange encoded messages on a virtual
/// clock: connections delay, overtake each other, break, and stay open at one end only; the server
/// restarts. The seed decides on the order of events.
final class SessionSimulation {
    private let server: SimulatedServer
    let clients: [SimulatedClient]
    private var random: SplitMix64
    private var now: UInt64 = 0
    private var events: [Event] = []
    private var nextNumber: UInt64 = 0
    /// By connection; one that is missing here is closed at the server.
    private var ends: [Int: ServerEnd] = [:]
    private var nextConnection = 1
    private(set) var coverage = Coverage()

    /// Counts of the events that the simulation is for.
    struct Coverage {
        var messages = 0
        var breaks = 0
        var halfOpen = 0
        var restarts = 0
        var fastReconnects = 0

        static func += (left: inout Coverage, right: Coverage) {
            left.messages += right.messages
            left.breaks += right.breaks
            left.halfOpen += right.halfOpen
            left.restarts += right.restarts
            left.fastReconnects += right.fastReconnects
        }
    }

    enum Failure: Error {
        case violation(ProtocolViolation)
        case sessionError(Int)
        case tooManyEvents
    }

    private enum Happening {
        case write(client: Int)
        case connect(client: Int)
        case toClient(Int, connection: Int, [UInt8])
        case toServer(connection: Int, [UInt8])
        /// The network drops all messages in transit; each end learns of it, or does not.
        case breakConnection(client: Int)
        case clientNotices(Int, connection: Int)
        case restartServer
        case serverWork(connection: Int, ServerConnection.Effect)
    }

    private struct Event {
        let time: UInt64
        let number: UInt64
        let happening: Happening
    }

    /// The server's state of one connection.
    private struct ServerEnd {
        let client: Int
        var machine = ServerConnection(
            subProtocol: SubProtocol(mode: .partitionBased, version: 14)
        )
        var file: ClientFile?
        /// The session that was identified.
        var running: ServerConnection.SessionKey?
        /// The store carries out effects in order.
        var isFreeAt: UInt64 = 0
        var deliversAt: UInt64 = 0
    }

    init(_ server: SimulatedServer, clients count: Int, random: SplitMix64) {
        self.server = server
        self.clients = (0..<count).map { SimulatedClient(number: $0) }
        self.random = random
    }

    /// The content of the server.
    func contents() async throws -> InMemoryRealm {
        try await server.contents()
    }

    // MARK: Time

    /// Runs until no event is left: a task that still waits would wait forever.
    func run(writes: Int, mishaps: Int) async throws {
        for client in clients.indices {
            schedule(.connect(client: client), in: below(20_000))
            for _ in 0..<writes { schedule(.write(client: client), in: below(60_000)) }
        }
        for _ in 0..<mishaps {
            let mishap: Happening =
                below(5) == 0 ? .restartServer : .breakConnection(client: Int(below(clients.count)))
            schedule(mishap, in: below(60_000))
        }
        while let event = takeNext() {
            now = event.time
            guard event.number < 200_000 else { throw Failure.tooManyEvents }
            try await take(event.happening)
        }
    }

    private func schedule(_ happening: Happening, in delay: UInt64) {
        nextNumber += 1
        events.append(Event(time: now + delay, number: nextNumber, happening: happening))
    }

    private func takeNext() -> Event? {
        let next = events.indices.min {
            (events[$0].time, events[$0].number) < (events[$1].time, events[$1].number)
        }
        return next.map { events.remove(at: $0) }
    }

    private func below(_ limit: Int) -> UInt64 {
        UInt64.random(in: 0..<UInt64(limit), using: &random)
    }

    // MARK: What happens

    private func take(_ happening: Happening) async throws {
        switch happening {
        case .write(let number):
            try clients[number].write(at: 1_000 + now, using: &random)
            try pump(number)
        case .connect(let number):
            connect(number)
            try pump(number)
        case .toClient(let number, let connection, let bytes):
            guard clients[number].connection == connection else { return }
            coverage.messages += 1
            try clients[number].receive(bytes)
            try pump(number)
        case .toServer(let connection, let bytes):
            guard ends[connection] != nil else { return }
            coverage.messages += 1
            let effects = ends[connection]?.machine.received(bytes) ?? []
            carryOut(effects, connection)
        case .breakConnection(let number):
            breakConnection(number)
        case .clientNotices(let number, let connection):
            lose(number, connection)
        case .restartServer:
            coverage.restarts += 1
            ends = [:]
            try await server.restart()
            for client in clients.indices {
                guard let connection = clients[client].connection else { continue }
                schedule(.clientNotices(client, connection: connection), in: below(3_000))
            }
        case .serverWork(let connection, let effect):
            try await work(connection, effect)
        }
    }

    private func connect(_ number: Int) {
        let client = clients[number]
        guard client.connection == nil else { return }
        let connection = nextConnection
        nextConnection += 1
        ends[connection] = ServerEnd(client: number)
        client.connection = connection
        client.deliversAt = now
        let isFast = client.lostAt.map { now - $0 <= 60_000 } ?? false
        if isFast { coverage.fastReconnects += 1 }
        client.session.connected(isFastReconnect: isFast)
        carryOut(ends[connection]?.machine.opened(connectionID: "\(connection)") ?? [], connection)
    }

    private func breakConnection(_ number: Int) {
        guard let connection = clients[number].connection else { return }
        coverage.breaks += 1
        // The server may keep its end, with its pending work; nothing reaches it any more.
        if below(2) == 0 { ends[connection] = nil } else { coverage.halfOpen += 1 }
        events.removeAll { event in
            switch event.happening {
            case .toServer(connection, _): true
            case .toClient(_, connection, _): true
            default: false
            }
        }
        clients[number].isCutOff = true
        schedule(.clientNotices(number, connection: connection), in: below(90_000))
    }

    private func lose(_ number: Int, _ connection: Int) {
        let client = clients[number]
        guard client.connection == connection else { return }
        client.connection = nil
        client.isCutOff = false
        client.lostAt = now
        client.session.disconnected()
        schedule(.connect(client: number), in: below(5_000))
    }

    // MARK: The client's end

    private func pump(_ number: Int) throws {
        let client = clients[number]
        guard let connection = client.connection else { return }
        for message in client.messagesToSend() where !client.isCutOff {
            client.deliversAt = max(client.deliversAt, now + below(400))
            schedule(
                .toServer(connection: connection, message.encoded()),
                in: client.deliversAt - now
            )
        }
    }

    // MARK: The server's end

    private func carryOut(_ effects: [ServerConnection.Effect], _ connection: Int) {
        for effect in effects {
            guard var end = ends[connection] else { return }
            switch effect {
            case .send(let message):
                guard !clients[end.client].isCutOff else { continue }
                end.deliversAt = max(end.deliversAt, now + below(400))
                schedule(
                    .toClient(end.client, connection: connection, message.encoded()),
                    in: end.deliversAt - now
                )
            case .work:
                end.isFreeAt = max(end.isFreeAt, now + below(100))
                schedule(.serverWork(connection: connection, effect), in: end.isFreeAt - now)
            case .ended, .close:
                break
            }
            ends[connection] = end
        }
    }

    private func work(_ connection: Int, _ effect: ServerConnection.Effect) async throws {
        guard let end = ends[connection] else { return }
        switch effect {
        case .work(let key, .open(_, let needsFileIdent)):
            let assigned = needsFileIdent ? try await server.assignIdent() : nil
            carryOut(
                ends[connection]?.machine.opened(key, assigned: assigned) ?? [],
                connection
            )
        case .work(let key, .validate(let ident)):
            let file = try await server.identify(ident)
            // The client has moved to this end; the actions of the others no longer count.
            for other in ends.keys where other != connection {
                if ends[other]?.file?.ident == file.ident { ends[other] = nil }
            }
            ends[connection]?.file = file
            ends[connection]?.running = key
            carryOut(
                ends[connection]?.machine.identified(
                    key,
                    upload: file.upload,
                    locked: file.lockedServerVersion
                ) ?? [],
                connection
            )
        case .work(_, .integrate(let uploads)):
            guard let file = end.file, let last = uploads.last else { return }
            let outcome = try await server.integrate(
                Upload(
                    client: file.ident,
                    sessionEpoch: file.sessionEpoch,
                    changesets: uploads.flatMap(\.changesets),
                    progress: last.progress,
                    lockedServerVersion: last.lockedServerVersion
                )
            )
            guard outcome.integratedCount > 0 else { return }
            announce(outcome.currentVersion)
        case .work(let key, .scanDownload(let cursor)):
            guard let file = end.file else { return }
            let batch = try await server.scan(for: file.ident, from: cursor, limitInBytes: 200)
            guard let batch else { return }
            let scanned = ServerSession.Scanned(
                changesets: batch.changesets,
                progress: batch.progress,
                downloadableBytes: batch.downloadableBytes
            )
            carryOut(ends[connection]?.machine.scanned(key, scanned) ?? [], connection)
        case .send, .ended, .close, .work(_, .subscribe):
            break
        }
    }

    private func announce(_ version: ServerVersion) {
        for connection in ends.keys.sorted() {
            guard let key = ends[connection]?.running else { continue }
            carryOut(ends[connection]?.machine.historyGrew(key, to: version) ?? [], connection)
        }
    }
}
