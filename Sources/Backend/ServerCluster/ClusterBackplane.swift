package import Logging
package import PostgreSQL
import PostgreSQLServerStore
package import ServerStore
package import Surroundings
import Synchronization
package import Versions

/// The backplane of a server of several processes, which share a PostgreSQL database.
///
/// Messages reach the participants of this process during the call, and those of others by NOTIFY.
/// Each process finds in the database what was lost on the way: versions at each poll,
/// everything else once the control epoch has moved.
package final class ClusterBackplane: Backplane {
    private let member: ClusterMember
    private let coordination: CoordinationConnection
    private let orders: AsyncStream<BackplaneMessage>
    private let process: ProcessRecord
    private let logger: Logger

    /// The longest time until a lost message is made up for, but for the poll itself.
    package static let pollInterval = Duration.seconds(5)

    /// - Parameters:
    ///   - target: the database.
    ///   - storeID: of the store in it, which every connection must find again.
    ///   - pollInterval: the longest time until a lost message is made up for.
    package init(
        _ target: Target,
        schema: String,
        storeID: String,
        process: ProcessRecord,
        clock: WallClock,
        pollInterval: Duration = ClusterBackplane.pollInterval,
        logger: Logger
    ) throws(PostgreSQLError) {
        let (orders, continuation) = AsyncStream<BackplaneMessage>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.waitingOrders)
        )
        self.orders = orders
        self.process = process
        self.logger = logger
        let member = ClusterMember(
            schema: schema,
            storeID: storeID,
            process: process,
            clock: clock,
            orders: continuation,
            logger: logger
        )
        self.member = member
        coordination = try CoordinationConnection(
            target,
            storeID: storeID,
            pollInterval: pollInterval,
            member.handlers
        )
    }

    /// Orders of others that wait until an app's record is read again.
    private static let waitingOrders = 10_000

    package func join(_ participant: any BackplaneParticipant) {
        member.join(participant)
        coordination.pollSoon()
    }

    package func leave(_ participant: any BackplaneParticipant) {
        member.leave(participant)
        coordination.pollSoon()
    }

    package func announce(_ version: ServerVersion, of file: ServerFileID) {
        member.pass(.growth(of: file, to: version))
        coordination.announce(.init(file: file.rawValue, version: version))
    }

    package func takeOver(_ client: ClientFileID, epoch: UInt64) {
        member.pass(.takeover(of: client, epoch: epoch))
        coordination.announceTakeover(
            of: client.ident,
            in: client.file.rawValue,
            epoch: Int64(clamping: epoch)
        )
    }

    package func control(_ audience: ConnectionAudience, _ order: ConnectionOrder) {
        tell(.control(audience, order))
    }

    package func changed(_ app: AppID) {
        tell(.changed(app))
    }

    private func tell(_ message: BackplaneMessage) {
        member.note(message)
        member.pass(message)
        guard let text = OrderText.text(of: message) else { return }
        coordination.announceOrder(text)
    }

    package func ask(_ app: AppID) async -> ConnectionCounts {
        member.counts(of: app)
    }

    package var obstacle: String? { member.obstacle }

    package func perform(
        _ job: Job,
        every interval: Duration,
        _ body: @Sendable () async -> Void
    ) async {
        guard obstacle == nil else { return }
        do {
            let isOurs = try await coordination.perform { connection in
                try JobStatements.begin(connection, job, every: interval)
            }
            guard isOurs else { return }
            await body()
            try await coordination.perform { [process] connection in
                try JobStatements.finish(connection, job, process)
            }
        } catch {
            logger.warning(
                "a job was not finished",
                metadata: ["job": "\(job.rawValue)", "error": "\(error)"]
            )
        }
    }

    package func mayTrim(_ app: AppID) async -> Bool {
        guard obstacle == nil else { return false }
        let agree = try? await coordination.perform { [member] connection in
            try member.agree(connection, on: app)
        }
        return agree == true
    }

    package func take(_ attempt: CountedAttempt) async -> Int64? {
        // While the database is away, the process's own count is all there is.
        guard obstacle == nil else { return nil }
        let wait = try? await coordination.perform { connection in
            try AttemptStatements.take(connection, attempt)
        }
        return wait ?? nil
    }

    package func giveBack(_ attempt: CountedAttempt) async {
        guard obstacle == nil else { return }
        _ = try? await coordination.perform { connection in
            try AttemptStatements.giveBack(connection, attempt)
        }
    }

    /// Connects, and hears of other processes until the task is cancelled; called once.
    package func run(following follow: @escaping @Sendable (AppID) async -> SyncState?) async {
        guard coordination.start() else { return member.report("the system gave no thread") }
        for await message in orders {
            if let app = message.app {
                let state = await follow(app)
                // Enabled again since, or not paused yet: another order follows once it is.
                if state == .enabled, case .control(_, .pause) = message { continue }
            }
            member.pass(message)
        }
        // Cancelled.
        await coordination.close()
    }
}

extension BackplaneMessage {
    /// The app whose record the message is about.
    fileprivate var app: AppID? {
        switch self {
        case .changed(let app), .control(.app(let app), _): app
        case .growth, .takeover, .control: nil
        }
    }
}
