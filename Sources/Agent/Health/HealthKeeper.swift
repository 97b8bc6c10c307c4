import Control
import SyncClient

/// Asks all realms for their state at regular intervals, and notifies systemd's watchdog if all
/// respond and the work on every file makes progress.
///
/// A transaction may take minutes, as long as it makes progress. Without progress for `stallLimit`
/// the keeper sends no notification, and the watchdog ends the agent.
struct HealthKeeper: Sendable {
    let period: Duration
    let time: SyncTime
    /// Maximum time without progress of the work on a file.
    var stallLimit = Duration.seconds(60)
    /// Maximum time without an acknowledgement of local changes.
    var uploadLimit = Duration.seconds(300)
    let examine: @Sendable () async -> [RealmHealth]
    var reportHanging: @Sendable ([String]) -> Void = { _ in }
    /// Called when other realms are stalled than before.
    var reportStalled: @Sendable ([String]) -> Void = { _ in }
    /// The time for which the machine has slept since it was started.
    var slept: @Sendable () -> Duration = { .zero }
    /// Called after the machine has slept, with the time.
    var reportResumed: @Sendable (Duration) async -> Void = { _ in }
    let reportAlive: @Sendable () -> Void
    let reportSummary: @Sendable (String) -> Void

    /// Runs until the task is cancelled.
    func run() async {
        var lastSummary = ""
        var lastHanging: [String] = []
        var lastStalled: [String] = []
        var watch = WorkWatch(stallLimit: stallLimit)
        var uploads = StallWatch(limit: uploadLimit)
        var lastSlept = slept()
        while !Task.isCancelled {
            let total = slept()
            if total - lastSlept >= Self.shortestSleep { await reportResumed(total - lastSlept) }
            lastSlept = total
            let realms = await examine()
            if Task.isCancelled { return }
            let hanging = watch.hanging(realms, at: time.uptime())
            if hanging != lastHanging { reportHanging(hanging) }
            lastHanging = hanging
            if hanging.isEmpty { reportAlive() }
            let stalled = uploads.stalled(realms, at: time.uptime())
            if stalled != lastStalled { reportStalled(stalled) }
            lastStalled = stalled
            let summary = Self.summary(of: realms)
            if summary != lastSummary { reportSummary(summary) }
            lastSummary = summary
            try? await time.sleep(period)
        }
    }

    /// Shorter differences of the clocks are not sleep.
    static let shortestSleep = Duration.seconds(5)

    /// Three signs of life in a watchdog's period; without one, often enough for people.
    static func period(watchdog: Duration?) -> Duration {
        min(watchdog.map { $0 / 3 } ?? .seconds(5), .seconds(5))
    }

    /// One line such as "3 realms: 2 open, 1 paused (metered)".
    static func summary(of realms: [RealmHealth]) -> String {
        guard !realms.isEmpty else { return "no realms" }
        var counts: [String: Int] = [:]
        for realm in realms {
            counts[realm.state.rawValue + (realm.cause.map { " (\($0))" } ?? ""), default: 0] += 1
        }
        let parts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value) \($0.key)" }
        let noun = realms.count == 1 ? "realm" : "realms"
        return "\(realms.count) \(noun): \(parts.joined(separator: ", "))"
    }
}
