import Config
import Control
import LocalRealm
import SyncClient

/// What the owner wants downloaded before the realm counts as open (features, O4 to O14).
extension RealmSupervisor {
    /// The time that the opening may take is over at a moment when nothing else need happen.
    func tellLateness(_ client: RealmClient) async {
        guard let timeout = configuration.opening.timeout else { return }
        let age = await client.snapshot().standing.age
        guard (try? await time.sleep(max(.zero, timeout - age))) != nil else { return }
        await client.reportPhase()
    }

    /// Returns when the realm is open, or what time does not heal keeps it from that.
    func waitUntilOpen(timeout: Duration?) async -> SyncReport {
        let deadline = timeout.map { time.uptime() + $0 }
        while true {
            let client: RealmClient
            do throws(Failure) {
                client = try await running(until: deadline, isPatient: true)
            } catch {
                guard error.outcome == .offline, error != .stopping else {
                    return report(error.outcome, error.detail)
                }
                continue
            }
            let snapshot = await client.snapshot()
            switch opening(snapshot) {
            case .open: return report(.done, nil)
            case .late(let limit):
                return report(
                    OpeningState(configuration.opening, snapshot.standing, snapshot.phase).isOffline
                        ? .offline : .timedOut,
                    "not downloaded within \(limit.forPeople), as open.timeout has it"
                )
            case .waiting: break
            }
            if case .refused(let issue) = snapshot.phase {
                return SyncReport(
                    realm: configuration.name,
                    outcome: SyncOutcome.refused(issue),
                    uploadedBytes: 0,
                    downloadedBytes: 0
                )
            }
            if let deadline, time.uptime() >= deadline {
                return report(.timedOut, "the realm was not open in the time given")
            }
            guard (try? await time.sleep(Self.openingPoll)) != nil else {
                return report(.offline, "the agent is stopping")
            }
        }
    }

    private static let openingPoll = Duration.milliseconds(50)

    private func report(_ outcome: SyncReport.Outcome, _ detail: String?) -> SyncReport {
        SyncReport(realm: configuration.name, outcome: outcome, detail: detail)
    }
}
