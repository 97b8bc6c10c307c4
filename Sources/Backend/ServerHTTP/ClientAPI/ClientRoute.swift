import ServerStore

/// The calls of the client API that this server serves (app services, 1.2).
enum ClientRoute: Hashable, Sendable {
    /// For load balancers: this process responds.
    case health
    /// For load balancers: whether this process can serve.
    case ready
    case location(AppID)
    case logIn(AppID, provider: String, isLinking: Bool)
    case register(AppID)
    case confirm(AppID)
    case resetPassword(AppID)
    /// `/confirm/send`, or `/confirm/call` for one by a function.
    case requestConfirmation(AppID, byCall: Bool)
    /// `/reset/send`, or `/reset/call` for one by a function.
    case requestReset(AppID, byCall: Bool)
    /// The token names the app; if the path names one too, they must agree.
    case profile(AppID?)
    case refresh(AppID?)
    case logOut(AppID?)
    case deleteUser(AppID?)
    case listKeys(AppID?)
    case createKey(AppID?)
    case key(AppID?, id: String)
    case removeKey(AppID?, id: String)
    case setKey(AppID?, id: String, isDisabled: Bool)
    case callFunction(AppID)
    /// Digests of a realm, for a client that compares its own: of this server alone.
    case compare(AppID)
    case registerPush(service: String)
    /// The sync endpoint, requested without an upgrade to WebSocket.
    case sync(AppID)

    static let basePath = "/api/client/v2.0"
    private static let probes: [String: ClientRoute] = [
        "/healthz": .health, "/readyz": .ready,
    ]

    /// Finds the route; refuses unknown ones.
    init(method: String, path: String, query: String) throws(ServiceRefusal) {
        if let probe = Self.probes[path] {
            guard method == "GET" || method == "HEAD" else { throw .methodNotAllowed }
            self = probe
            return
        }
        guard path.hasPrefix("\(Self.basePath)/") else { throw .routeNotFound }
        let rest = path.dropFirst(Self.basePath.count + 1)
        var segments = rest.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var app: AppID?
        if segments.first == "app", segments.count >= 2 {
            guard let id = AppID(segments[1]) else { throw .appNotFound }
            app = id
            segments.removeFirst(2)
        }
        let isLinking = query.split(separator: "&").contains("link=true")
        let candidates = Self.routes(app, segments, isLinking: isLinking)
        guard !candidates.isEmpty else { throw .routeNotFound }
        guard let route = candidates.first(where: { $0.method == method })?.route else {
            throw .methodNotAllowed
        }
        self = route
    }

    private static func routes(
        _ app: AppID?,
        _ segments: [String],
        isLinking: Bool
    ) -> [(method: String, route: ClientRoute)] {
        switch (app, segments.count, segments.first) {
        case (_, 2, "auth") where segments[1] == "profile":
            return [("GET", .profile(app))]
        case (_, 2, "auth") where segments[1] == "session":
            return [("POST", .refresh(app)), ("DELETE", .logOut(app))]
        case (_, 2, "auth") where segments[1] == "delete":
            return [("DELETE", .deleteUser(app))]
        case (_, 2..., "auth") where segments[1] == "api_keys":
            return keys(app, Array(segments.dropFirst(2)))
        case (let app?, 1, "location"):
            return [("GET", .location(app))]
        case (let app?, 1, "realm-sync"):
            return [("GET", .sync(app))]
        case (let app?, 2, "realm") where segments[1] == "compare":
            return [("POST", .compare(app))]
        case (let app?, 2, "functions") where segments[1] == "call":
            return [("POST", .callFunction(app)), ("GET", .callFunction(app))]
        case (.some, 4, "push") where segments[1] == "providers" && segments[3] == "registration":
            let route = ClientRoute.registerPush(service: segments[2])
            return [("PUT", route), ("DELETE", route)]
        case (let app?, 4..., "auth") where segments[1] == "providers":
            let action = segments[3...].joined(separator: "/")
            return provider(app, segments[2], action, isLinking).map { [("POST", $0)] } ?? []
        default:
            return []
        }
    }

    private static func keys(
        _ app: AppID?,
        _ segments: [String]
    ) -> [(method: String, route: ClientRoute)] {
        switch (segments.count, segments.first, segments.last) {
        case (0, _, _):
            [("GET", .listKeys(app)), ("POST", .createKey(app))]
        case (1, let id?, _):
            [("GET", .key(app, id: id)), ("DELETE", .removeKey(app, id: id))]
        case (2, let id?, "enable"):
            [("PUT", .setKey(app, id: id, isDisabled: false))]
        case (2, let id?, "disable"):
            [("PUT", .setKey(app, id: id, isDisabled: true))]
        default:
            []
        }
    }

    private static func provider(
        _ app: AppID,
        _ provider: String,
        _ action: String,
        _ isLinking: Bool
    ) -> ClientRoute? {
        if action == "login" { return .logIn(app, provider: provider, isLinking: isLinking) }
        guard provider == ProviderType.emailPassword.rawValue else { return nil }
        switch action {
        case "register": return .register(app)
        case "confirm": return .confirm(app)
        case "reset": return .resetPassword(app)
        case "confirm/send": return .requestConfirmation(app, byCall: false)
        case "confirm/call": return .requestConfirmation(app, byCall: true)
        case "reset/send": return .requestReset(app, byCall: false)
        case "reset/call": return .requestReset(app, byCall: true)
        default: return nil
        }
    }
}
