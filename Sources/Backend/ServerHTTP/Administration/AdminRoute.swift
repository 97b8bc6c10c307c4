import ServerStore

/// The calls of the admin API (app services, 12.3).
enum AdminRoute: Hashable, Sendable {
    case health
    case metrics
    case reload
    case listApps
    case createApp
    case updateApp(AppID)
    case deleteApp(AppID)
    case listUsers(AppID)
    case createUser(AppID)
    case deleteUser(AppID, UserID)
    case setDisabled(Bool, AppID, UserID)
    case revokeSessions(AppID, UserID)
    case listPending(AppID)
    case confirmAccount(AppID)
    case listKeys(AppID)
    case createKey(AppID)
    case removeKey(AppID, String)
    case setKeyDisabled(Bool, AppID, String)
    case sync(AppID)
    case setSync(AppID)
    case terminateSync(AppID)
    case migrateSync(AppID)
    /// A tool beside the server has written to files of the app.
    case noteGrowth(AppID)
    case rules(AppID)
    case setRules(AppID)
    case listRealms(AppID)
    case inspectRealm(AppID)
    case resetClient(AppID)

    /// Whether the call only tells the server of something: it changes no state.
    var changesNothing: Bool {
        if case .noteGrowth = self { true } else { false }
    }

    static let basePath = "/admin/v1"

    /// Finds the route; refuses unknown ones.
    init(method: String, path: String) throws(ServiceRefusal) {
        guard path.hasPrefix("\(Self.basePath)/") else { throw .routeNotFound }
        let segments = path.dropFirst(Self.basePath.count + 1)
            .split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let candidates = try Self.routes(segments)
        guard !candidates.isEmpty else { throw .routeNotFound }
        guard let route = candidates[method] else { throw .methodNotAllowed }
        self = route
    }

    private static func routes(
        _ segments: [String]
    ) throws(ServiceRefusal) -> [String: AdminRoute] {
        switch (segments.first, segments.count) {
        case ("health", 1): return ["GET": .health]
        case ("metrics", 1): return ["GET": .metrics]
        case ("reload", 1): return ["POST": .reload]
        case ("apps", 1): return ["GET": .listApps, "POST": .createApp]
        case ("apps", 2...):
            guard let app = AppID(segments[1]) else { throw .appNotFound }
            return routes(of: app, Array(segments.dropFirst(2)))
        default: return [:]
        }
    }

    private static func routes(of app: AppID, _ segments: [String]) -> [String: AdminRoute] {
        switch (segments.first, segments.count, segments.last) {
        case (nil, _, _): ["PUT": .updateApp(app), "DELETE": .deleteApp(app)]
        case ("users", 1, _): ["GET": .listUsers(app), "POST": .createUser(app)]
        case ("users", 2, let user?): ["DELETE": .deleteUser(app, UserID(user))]
        case ("users", 3, "enable"): ["PUT": .setDisabled(false, app, UserID(segments[1]))]
        case ("users", 3, "disable"): ["PUT": .setDisabled(true, app, UserID(segments[1]))]
        case ("users", 3, "logout"): ["PUT": .revokeSessions(app, UserID(segments[1]))]
        case ("pending", 1, _): ["GET": .listPending(app)]
        case ("pending", 2, "confirm"): ["POST": .confirmAccount(app)]
        case ("server_keys", 1, _): ["GET": .listKeys(app), "POST": .createKey(app)]
        case ("server_keys", 2, let key?): ["DELETE": .removeKey(app, key)]
        case ("server_keys", 3, "enable"): ["PUT": .setKeyDisabled(false, app, segments[1])]
        case ("server_keys", 3, "disable"): ["PUT": .setKeyDisabled(true, app, segments[1])]
        case ("sync", 1, _): ["GET": .sync(app), "PUT": .setSync(app)]
        case ("sync", 2, "terminate"): ["POST": .terminateSync(app)]
        case ("sync", 2, "migration"): ["PUT": .migrateSync(app)]
        case ("sync", 2, "growth"): ["POST": .noteGrowth(app)]
        case ("rules", 2, "access"): ["GET": .rules(app), "PUT": .setRules(app)]
        case ("realms", 1, _): ["GET": .listRealms(app)]
        case ("realms", 2, "inspect"): ["POST": .inspectRealm(app)]
        case ("realms", 2, "reset-client"): ["POST": .resetClient(app)]
        default: [:]
        }
    }
}
