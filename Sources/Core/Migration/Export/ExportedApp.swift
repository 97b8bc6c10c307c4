import BSON

/// An export of an app, of any layout.
struct ExportedApp {
    var layout: Layout
    var appID: String?
    var configVersion: Int64?
    /// Constants of `%%environment`.
    var environmentTag = ""
    var environmentValues: [String: JSONTree] = [:]
    var values: [String: ExportedValue] = [:]
    /// The settings of sync; nil for an app that never synced.
    var sync: ExportedFile?
    /// Of the layout that keeps the settings in a service: only development mode is outside.
    var rootSync: JSONTree?
    var syncedService: String?
    var collections: [ExportedCollection] = []
    var defaultRule: ExportedFile?
    var providers: [ExportedProvider] = []
    var customUserData: ExportedFile?
    /// The path of the source by name.
    var functions: [String: String] = [:]
    /// Services other than the synced one.
    var otherServices: [(name: String, type: String)] = []

    enum Layout {
        /// `config.json`, `services`, `auth_providers`.
        case services
        /// `realm_config.json` or `root_config.json`, `data_sources`, `auth`.
        case dataSources
    }

    enum ExportedValue {
        case constant(JSONTree)
        case secret
    }
}

/// One collection of the synced service.
struct ExportedCollection {
    let service: String
    let database: String
    let name: String
    var schema: ExportedFile?
    var relationships: ExportedFile?
    var rules: ExportedFile?

    var path: String { "\(database).\(name)" }
}

struct ExportedProvider {
    let type: String
    let file: String
    let content: JSONTree
}
