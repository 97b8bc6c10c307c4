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
    private let apps = Mutex<[AppID: ServedApp]>([:])

    /// Nil if the app is not served.
    package subscript(id: AppID) -> ServedApp? {
        apps.withLock { $0[id] }
    }

    /// By id.
    package var all: [ServedApp] {
        apps.withLock { Array($0.values) }.sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// Serves an app, or replaces its configuration.
    package func put(_ app: ServedApp) {
        apps.withLock { $0[app.id] = app }
    }

    /// Serves the app no more; its record stays in the store.
    package func remove(_ id: AppID) {
        apps.withLock { $0[id] = nil }
    }

    /// Changes the rules of a served app; the caller has stored them.
    package func setRules(_ rules: AccessRules, of id: AppID) {
        apps.withLock { $0[id]?.configuration.access = rules }
    }

    /// Changes the state of a served app; the caller has stored it.
    package func setSyncState(_ state: SyncState, of id: AppID) {
        apps.withLock { $0[id]?.syncState = state }
    }
}
