import Changesets
import Schemas
import Synchronization

/// An app that is served: what is configured, and what the store knows of it.
struct ServedApp {
    var configuration: AppConfiguration
    /// Nil where the provider is off.
    var externalTokens: ExternalTokens?
    /// What every file of the app has at least.
    var schema: RealmSchema?
    let domainID: String
    var syncState: SyncState
    /// Declared in the configuration file, which then is the only place to change it.
    let isFromFile: Bool

    var id: AppID { configuration.id }

    /// A provider's id is an ornament of profiles; it follows from the app's.
    func providerID(_ provider: ProviderType) -> String {
        let digest = SessionDigest(ofSession: "\(domainID) \(provider.rawValue)")
        return Hexadecimal.text(of: digest.bytes.prefix(12))
    }
}

/// An app that could be served from now on.
struct PreparedApp {
    let served: ServedApp
    let keys: [SigningKey]
    /// Made a moment ago, by this process.
    let areKeysNew: Bool
}

/// The apps that are served right now; an operator changes them while the server runs.
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
