import Config
import Control
import RealmSync

/// A configured realm at run time: the engine, and the handlers that decide about its events.
struct ConfiguredRealm: Sendable {
    let configuration: RealmConfiguration
    let realm: SyncedRealm
    /// Nil if no handler is configured.
    let handlers: RealmHandlers?

    var name: String { configuration.name }

    /// Runs until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            if let handlers { group.addTask { await handlers.run(realm) } }
            await realm.run()
            group.cancelAll()
        }
    }

    func status() async -> RealmStatus {
        let now = realm.context.now()
        var status = RealmStatus(
            configuration,
            at: realm.path,
            await realm.status(),
            now: now
        )
        status.offlineLimitUsed = await offlineLimitUsed(status.state, at: now)
        return status
    }

    /// - Parameter now: milliseconds since 1970.
    private func offlineLimitUsed(_ state: RealmState, at now: Int64) async -> Double? {
        guard let last = await realm.lastConnected() else { return nil }
        return OfflineShare.used(
            of: configuration.user.app.offlineLimit,
            since: state == .open || state == .progress ? now : last,
            at: now
        )
    }
}
