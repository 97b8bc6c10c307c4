import ServerConfig
import ServerMetrics
import ServerStore

extension ServerMeter {
    /// Counts a response of the client API.
    ///
    /// - Parameters:
    ///   - route: nil if the request has none.
    ///   - refusal: nil for a success, and for a failure of the server.
    func note(
        _ response: ClientAPIResponse,
        to route: ClientRoute?,
        refusal: ServiceRefusal? = nil
    ) {
        let isFailure = response.status >= 400
        let rejection = isFailure ? refusal?.metricsCode ?? "server" : nil
        note(
            .answered(
                route: route?.name ?? "unknown",
                status: response.status,
                rejection: rejection
            )
        )
        if response.status == 429 { note(.reached(.attempts)) }
        switch route {
        case .logIn(let app, let provider, let isLinking):
            note(
                .loggedIn(
                    refusal == .appNotFound ? nil : app,
                    provider: ProviderType(rawValue: provider)?.rawValue ?? "unknown",
                    outcome: rejection ?? "ok"
                )
            )
            if !isFailure, !isLinking { note(.issuedToken(.refresh)) }
            if !isFailure { note(.issuedToken(.access)) }
        case .refresh where !isFailure:
            note(.issuedToken(.access))
        default:
            break
        }
    }
}

extension ServiceRefusal {
    /// One of a closed list: clients must not invent labels.
    fileprivate var metricsCode: String { code?.rawValue ?? "\(status)" }
}

extension ClientRoute {
    /// Names the call in metrics, without what the client chose.
    fileprivate var name: String {
        switch self {
        case .health: "health"
        case .ready: "ready"
        case .location: "location"
        case .logIn(_, _, let isLinking): isLinking ? "link" : "log-in"
        case .register: "register"
        case .confirm: "confirm"
        case .resetPassword: "reset"
        case .requestConfirmation: "request-confirmation"
        case .requestReset: "request-reset"
        case .profile: "profile"
        case .refresh: "refresh"
        case .logOut: "log-out"
        case .deleteUser: "delete-user"
        case .listKeys, .createKey, .key, .removeKey, .setKey: "api-keys"
        case .callFunction: "function"
        case .registerPush: "push"
        case .sync: "sync"
        case .compare: "compare"
        }
    }
}
