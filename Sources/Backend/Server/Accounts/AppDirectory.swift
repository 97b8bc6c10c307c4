import Changesets
import Schemas
import Synchronization

/// A served app: its configuration, and its record in the store.
struct ServedApp {
    var configuration: ServedAppConfiguration
    /// Nil if the provider is off.
    var externalTokens: ExternalTokens?
    /// The classes that every file of the app has.
    var schema: RealmSchema?
    let domainID: String
    var syncState: SyncState
    /// Whether the configuration file declares it; it can then be changed only there.
    let isFromFile: Bool

    var id: AppID { configuration.id }

    /// A provider's id only appears in profiles; it is derived from the app's.
    func providerID(_ provider: ProviderType) -> String {
        let digest = SessionDigest(ofSession: "\(domainID) \(provider.rawValue)")
        return Hexadecimal.text(of: digest.bytes.prefix(12))
    }
}

/// An app that could be served from now on.
struct PreparedApp {
    let served: ServedApp
    let keys: [SigningKey]
    /// Whether this process has just created the keys.
    let areKeysNew: Bool
}

/// The served apps; an operator changes them while the server runs.
package final class AppDirectory: Sendable {
    private let apps = Mutex<[AppID: ServedApp]>([:])

    subscript(id: AppID) -> ServedApp? {
        apps.withLock { $0[id] }
    }

    /// By id.
    var all: [ServedApp] {
        apps.withLock { Array($0.values) }.sorted { $0.id.rawValue < $1.id.rawValue }
    }

    func put(_ app: ServedApp) {
        apps.withLock { $0[app.id] = app }
    }

    func remove(_ id: AppID) {
        apps.withLock { $0[id] = nil }
    }

    func setRules(_ rules: AccessRules, of id: AppID) {
        apps.withLock { $0[id]?.configuration.access = rules }
    }

    func setSyncState(_ state: SyncState, of id: AppID) {
        apps.withLock { $0[id]?.syncState = state }
    }
}
