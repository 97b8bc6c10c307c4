import SyncProtocol
import TestSupport
import Versions

@testable import ServerStore
@testable import SyncServer

/// Clients and a server that exchange their changes over connections that delay and break, one step
/// at a time; the seed decides on the next step.
struct Simulation<Client: Replica> {
    let server: SimulatedServer
    let clients: [Client]
    private var random: SplitMix64
    private var links: [Link?]
    /// Steps for which a client stays without a connection.
    private var offline: [Int]
    private var time: UInt64 = 1_000
    private(set) var coverage = Coverage()

    /// Counts of the events that the simulation is for.
    struct Coverage {
        var mixedUploads = 0
        var lostUploads = 0
        var repeatedUploads = 0
        var zombieUploads = 0
        var mixedDownloads = 0
        var clientReciprocals = 0
        var serverReciprocals = 0
        var trimmedEntries = 0
        var serverRestarts = 0
        var snapshots = 0
        var trimmedVersions: UInt64 = 0

        static func += (left: inout Coverage, right: Coverage) {
            left.mixedUploads += right.mixedUploads
            left.lostUploads += right.lostUploads
            left.repeatedUploads += right.repeatedUploads
            left.zombieUploads += right.zombieUploads
            left.mixedDownloads += right.mixedDownloads
            left.clientReciprocals += right.clientReciprocals
            left.serverReciprocals += right.serverReciprocals
            left.trimmedEntries += right.trimmedEntries
            left.serverRestarts += right.serverRestarts
            left.snapshots += right.snapshots
            left.trimmedVersions += right.trimmedVersions
        }
    }

    enum Failure: Error {
        case zombieWasServed
        case repeatedUploadWasIntegrated
        case reciprocalBelowBase
        case clientFileIsGone
        case noQuiet
    }

    init(_ server: SimulatedServer, _ clients: [Client], random: SplitMix64) {
        self.server = server
        self.clients = clients
        self.random = random
        links = clients.map { _ in nil }
        // The last one joins once there is data.
        offline = clients.map { _ in 0 }
        offline[clients.count - 1] = clients.count > 1 ? 10 : 0
    }

    mutating func run(steps: Int) async throws {
        for _ in 0..<steps { try await step() }
        for number in clients.indices { links[number] = nil }
        try await exchangeUntilQuiet()
    }

    private mutating func step() async throws {
        time += UInt64(below(5))
        let number = below(clients.count)
        offline[number] = max(0, offline[number] - 1)
        switch below(20) {
        case 0...4: try clients[number].write(at: time, using: &random)
        case 5...7: try await scanUploads(number)
        case 8...10: try await receiveUpload(number)
        case 11...13: try await scanDownload(number, limitInBytes: below(4) * 40)
        case 14...16: try await receiveDownload(number)
        case 17: try clients[number].drain()
        case 18: try await breakConnection(number)
        default:
            switch below(8) {
            case 0...1: try await restartServer()
            case 2...5: coverage.trimmedVersions += try await server.trim().rawValue
            default: try restartClient(number)
            }
        }
    }
}

// MARK: Connections

extension Simulation {
    private mutating func connect(_ number: Int) async throws {
        guard links[number] == nil, offline[number] == 0 else { return }
        let client = clients[number]
        if client.fileIdent == .none {
            // An ident that does not arrive is lost, and another is requested.
            let ident = try await server.assignIdent()
            if below(5) == 0 { return }
            try client.storeFileIdent(ident)
        }
        let file = try await server.identify(client.fileIdent, client.progress)
        if file.snapshotVersion > .zero, client.progress.download == .zero {
            coverage.snapshots += 1
        }
        links[number] = Link(file, client.progress)
    }

    /// Messages in transit are lost, or arrive when a new session has taken over.
    private mutating func breakConnection(_ number: Int) async throws {
        guard let link = links[number] else { return }
        links[number] = nil
        coverage.lostUploads += link.uploads.count
        guard let upload = link.uploads.first else {
            offline[number] = below(3) == 0 ? below(30) : 0
            return
        }
        try await connect(number)
        guard links[number] != nil else { return }
        do {
            _ = try await server.integrate(Self.upload(upload, by: link.client))
            throw Failure.zombieWasServed
        } catch IntegrationRefusal.superseded {
            coverage.zombieUploads += 1
        }
    }

    private mutating func restartClient(_ number: Int) throws {
        links[number] = nil
        try clients[number].restart()
    }

    private mutating func restartServer() async throws {
        for number in clients.indices { links[number] = nil }
        try await server.restart()
        coverage.serverRestarts += 1
    }
}

// MARK: Uploads

extension Simulation {
    /// The client puts its changesets into an UPLOAD (sync history, 6.2).
    private mutating func scanUploads(_ number: Int) async throws {
        try await connect(number)
        guard var link = links[number] else { return }
        let client = clients[number]
        guard client.localVersion > link.scanned.clientVersion else { return }
        let acknowledges =
            link.scanned.lastIntegratedServerVersion < client.progress.download.serverVersion
        let batch = try client.scanUploads(from: link.scanned)
        link.scanned = batch.progress
        if !batch.changesets.isEmpty || acknowledges { link.uploads.append(batch) }
        links[number] = link
    }

    /// The server receives the next UPLOAD in transit, and now and then the same once more.
    private mutating func receiveUpload(_ number: Int) async throws {
        guard var link = links[number], !link.uploads.isEmpty else { return }
        let batch = link.uploads.removeFirst()
        let message = ClientMessage.Upload(
            session: 1,
            progress: batch.progress,
            lockedServerVersion: batch.lockedServerVersion,
            changesets: batch.changesets
        )
        let admitted = try link.uploadCheck.admit(message, sent: link.sent.serverVersion)
        links[number] = link
        guard let admitted else {
            coverage.repeatedUploads += 1
            return
        }
        if Set(admitted.changesets.map(\.cursor.lastIntegratedServerVersion)).count > 1 {
            coverage.mixedUploads += 1
        }
        if admitted.changesets.count < batch.changesets.count { coverage.repeatedUploads += 1 }
        let upload = Upload(
            client: link.client.ident,
            sessionEpoch: link.client.sessionEpoch,
            changesets: admitted.changesets,
            progress: admitted.progress,
            lockedServerVersion: admitted.lockedServerVersion
        )
        _ = try await server.integrate(upload)
        if below(8) == 0 {
            let again = try await server.integrate(Self.upload(batch, by: link.client))
            guard again.integratedCount == 0 else { throw Failure.repeatedUploadWasIntegrated }
            coverage.repeatedUploads += 1
        }
        let reciprocals = try await server.reciprocals(for: link.client.ident)
        coverage.serverReciprocals += reciprocals.versions.count
        guard reciprocals.versions.allSatisfy({ $0 > reciprocals.base }) else {
            throw Failure.reciprocalBelowBase
        }
    }

    private static func upload(_ batch: UploadBatch, by client: ClientFile) -> Upload {
        Upload(
            client: client.ident,
            sessionEpoch: client.sessionEpoch,
            changesets: batch.changesets,
            progress: batch.progress,
            lockedServerVersion: batch.lockedServerVersion
        )
    }
}

// MARK: Downloads

extension Simulation {
    private mutating func scanDownload(_ number: Int, limitInBytes: Int) async throws {
        try await connect(number)
        guard var link = links[number] else { return }
        let batch = try await server.scan(
            for: link.client.ident,
            from: link.sent,
            limitInBytes: limitInBytes
        )
        guard let batch else { throw Failure.clientFileIsGone }
        link.sent = batch.progress.download
        link.downloads.append(batch)
        links[number] = link
    }

    private mutating func receiveDownload(_ number: Int) async throws {
        guard var link = links[number], !link.downloads.isEmpty else { return }
        let client = clients[number]
        let batch = link.downloads.removeFirst()
        let check = DownloadCheck(
            progress: client.progress,
            lastVersionAvailable: client.localVersion,
            fileIdent: client.fileIdent.ident
        )
        try check.verify(
            ServerMessage.Download(
                session: 1,
                progress: batch.progress,
                extent: .partition(downloadableBytes: batch.downloadableBytes),
                changesets: batch.changesets
            )
        )
        try client.drain()
        let before = try client.historyCount
        try client.integrate(batch.changesets, progress: batch.progress)
        coverage.trimmedEntries += before - (try client.historyCount)
        coverage.clientReciprocals += try client.reciprocalCount
        if Set(batch.changesets.map(\.cursor.lastIntegratedClientVersion)).count > 1 {
            coverage.mixedDownloads += 1
        }
        if batch.progress.upload.clientVersion > link.scanned.clientVersion {
            link.scanned = batch.progress.upload
        }
        links[number] = link
    }
}

// MARK: Quiet

extension Simulation {
    /// Nothing is lost any more, until all replicas have everything and the server knows it.
    private mutating func exchangeUntilQuiet() async throws {
        for number in clients.indices {
            offline[number] = 0
            try clients[number].drain()
        }
        for _ in 0..<12 {
            for number in clients.indices {
                while links[number] == nil { try await connect(number) }
                repeat {
                    try await scanUploads(number)
                    while links[number]?.uploads.isEmpty == false {
                        try await receiveUpload(number)
                    }
                } while try await hasMoreToUpload(number)
                try await scanDownload(number, limitInBytes: 1 << 20)
                while links[number]?.downloads.isEmpty == false {
                    try await receiveDownload(number)
                }
            }
            if try await isQuiet() { return }
        }
        throw Failure.noQuiet
    }

    private func hasMoreToUpload(_ number: Int) async throws -> Bool {
        guard let link = links[number] else { return false }
        return try clients[number].scanUploads(from: link.scanned).changesets.isEmpty == false
    }

    private func isQuiet() async throws -> Bool {
        let current = try await server.currentVersion()
        return try clients.allSatisfy { client in
            try client.progress.download.serverVersion == current && client.historyCount == 0
        }
    }

    private mutating func below(_ limit: Int) -> Int {
        Int.random(in: 0..<limit, using: &random)
    }
}
