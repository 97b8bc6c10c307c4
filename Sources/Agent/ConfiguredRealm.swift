import Config
import Control
import RealmSync

/// One realm of the configuration as it runs: the engine, and the handlers that decide about its events.
struct ConfiguredRealm: Sendable {
    let configuration: RealmConfiguration
    let realm: SyncedRealm
    /// Nil where nobody handles anything.
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
        RealmStatus(configuration, await realm.status(), now: realm.context.now())
    }
}
