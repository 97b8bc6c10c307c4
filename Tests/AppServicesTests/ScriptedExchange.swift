import AppServices
import FoundationEssentials
import Synchronization

/// Answers requests from a script keyed by method and path, and remembers what was asked.
final class ScriptedExchange: HTTPExchange {
    enum Step: Sendable {
        case reply(status: Int, json: String)
        case raw(ServiceResponse)
        case unreachable
        /// No answer until the caller is cancelled.
        case silence
    }

    private struct State {
        var script: [String: [Step]]
        var requests: [ServiceRequest] = []
    }

    private let state: Mutex<State>

    init(_ script: [String: [Step]]) {
        self.state = Mutex(State(script: script))
    }

    var requests: [ServiceRequest] { state.withLock { $0.requests } }

    /// Method and path of every request so far.
    var calls: [String] { requests.map(Self.name) }

    func perform(
        _ request: ServiceRequest,
        timeout: Duration
    ) async throws(UnreachableError) -> ServiceResponse {
        let step = state.withLock { state -> Step? in
            state.requests.append(request)
            guard var steps = state.script[Self.name(request)], !steps.isEmpty else { return nil }
            // The last step of a script is repeated.
            let step = steps.count > 1 ? steps.removeFirst() : steps[0]
            state.script[Self.name(request)] = steps
            return step
        }
        switch step {
        case .reply(let status, let json):
            return ServiceResponse(
                status: status,
                contentType: "application/json",
                body: Array(json.utf8)
            )
        case .raw(let reply): return reply
        case .silence:
            try? await Task.sleep(for: .seconds(600))
            throw UnreachableError(reason: "cancelled")
        case .unreachable, nil: throw UnreachableError(reason: "no route")
        }
    }

    private static func name(_ request: ServiceRequest) -> String {
        let path = URL(string: request.url)?.path ?? ""
        return "\(request.method.rawValue) \(path.replacing("/api/client/v2.0", with: ""))"
    }
}

/// A token that expires at the given second.
func makeToken(expiresAt: Int64, name: String = "t") -> String {
    let payload = Data(#"{"exp":\#(expiresAt),"iat":1,"sub":"\#(name)"}"#.utf8)
    let text = payload.base64EncodedString().filter { $0 != "=" }
        .replacing("+", with: "-").replacing("/", with: "_")
    return "h.\(text).s"
}

let device = DeviceDescription(
    platformVersion: "6.1",
    sdkVersion: "0.1.0",
    architecture: "x86_64",
    name: "box"
)

extension AppClient {
    static func scripted(
        _ exchange: ScriptedExchange,
        baseURL: String = "http://server/",
        authorizationHeader: String = "Authorization",
        recall: @escaping @Sendable () async -> Location? = { nil }
    ) -> AppClient {
        AppClient(
            appID: "shop",
            baseURL: baseURL,
            device: device,
            exchange: exchange,
            authorizationHeader: authorizationHeader,
            timeout: .seconds(60),
            recall: recall
        )
    }
}
