import Synchronization
package import Versions

/// The backplane of a server that is one process: every message arrives during the call.
package final class InProcessBackplane: Backplane {
    private let participants = Mutex<[any BackplaneParticipant]>([])

    package init() {}

    package func join(_ participant: any BackplaneParticipant) {
        participants.withLock { $0.append(participant) }
    }

    package func leave(_ participant: any BackplaneParticipant) {
        participants.withLock { $0.removeAll { $0 === participant } }
    }

    package func announce(_ version: ServerVersion, of file: ServerFileID) {
        send(.growth(of: file, to: version))
    }

    package func takeOver(_ client: ClientFileID, epoch: UInt64) {
        send(.takeover(of: client, epoch: epoch))
    }

    package func control(_ audience: ConnectionAudience, _ order: ConnectionOrder) {
        send(.control(audience, order))
    }

    package func changed(_ app: AppID) {
        send(.changed(app))
    }

    package func ask(_ app: AppID) async -> ConnectionCounts {
        participants.withLock(\.self).reduce(ConnectionCounts()) { $0 + $1.counts(of: app) }
    }

    /// There are no other processes.
    package func run(following follow: @escaping @Sendable (AppID) async -> SyncState?) async {}

    package func perform(
        _ job: Job,
        every interval: Duration,
        _ body: @Sendable () async -> Void
    ) async {
        await body()
    }

    package func mayTrim(_ app: AppID) async -> Bool { true }

    /// There is one process, which has counted already.
    package func take(_ attempt: CountedAttempt) async -> Int64? { nil }

    package func giveBack(_ attempt: CountedAttempt) async {}

    package var obstacle: String? { nil }

    private func send(_ message: BackplaneMessage) {
        for participant in participants.withLock(\.self) { participant.receive(message) }
    }
}
