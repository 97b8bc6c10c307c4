import Changesets
package import Schemas
package import ServerConfig
package import ServerStore
import Synchronization

/// A served app: its configuration, and its record in the store.
package struct ServedApp {
    package var configuration: ServedAppConfiguration
    /// Nil if the provider is off.
    var externalTokens: ExternalTokens?
    /// The classes that every file of the app has.
    package var schema: RealmSchema?
    package let domainID: String
    /// Equal in processes that have the same configuration of the app.
    package var fingerprint = ""
    package var syncState: SyncState
    /// Whether the configuration file declares it; it can then be changed only there.
    package let isFromFile: Bool

    package var id: AppID { configuration.id }

    /// A provider's id only appears in profiles; it is derived from the app's.
    package func providerID(_ provider: ProviderType) -> String {
        let digest = SessionDigest(ofSession: "\(domainID) \(provider.rawValue)")
        return Hexadecimal.text(of: digest.bytes.prefix(12))
    }
}

/// An app that could be served from now on.
package struct PreparedApp {
    package let served: ServedApp
    let keys: [SigningKey]
    /// Whether this process has just created the keys.
    let areKeysNew: Bool
}

/// The served apps; an operator changes them while the server runs.
package final class AppDirectory: Sendable {
    private struct State {
        var apps: [AppID: ServedApp] = [:]
        /// The number of the last change of each app.
        var changes: [AppID: UInt64] = [:]
        var changeCount: UInt64 = 0

        mutating func change(_ id: AppID, _ body: (inout ServedApp?) -> Void) {
            body(&apps[id])
            changeCount += 1
            changes[id] = apps[id] == nil ? nil : changeCount
        }
    }

    private let state = Mutex(State())

    /// Nil if the app is not served.
    package subscript(id: AppID) -> ServedApp? {
        state.withLock { $0.apps[id] }
    }

    /// An app and the number of its last change, for what is derived from it; nil if it is not served.
    package func app(_ id: AppID) -> (app: ServedApp, change: UInt64)? {
        state.withLock { state in
            guard let app = state.apps[id], let change = state.changes[id] else { return nil }
            return (app, change)
        }
    }

    /// By id.
    package var all: [ServedApp] {
        state.withLock { Array($0.apps.values) }.sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// Serves an app, or replaces its configuration.
    package func put(_ app: ServedApp) {
        state.withLock { $0.change(app.id) { $0 = app } }
    }

    /// Serves the app no more; its record stays in the store.
    package func remove(_ id: AppID) {
        state.withLock { $0.change(id) { $0 = nil } }
    }

    /// Changes the rules of a served app; the caller has stored them.
    package func setRules(_ rules: AccessRules, of id: AppID) {
        state.withLock { $0.change(id) { $0?.configuration.use(rules) } }
    }

    /// Changes the state of a served app; the caller has stored it.
    package func setSyncState(_ syncState: SyncState, of id: AppID) {
        state.withLock { $0.change(id) { $0?.syncState = syncState } }
    }
}
