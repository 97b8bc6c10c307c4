/// The addresses of an app's servers (app services, 3).
package struct Location: Hashable, Sendable {
    /// Scheme and authority of HTTP requests, without a trailing slash.
    package let httpHost: String
    /// The complete URL of the sync endpoint, without query.
    package let syncRoute: String

    package init(httpHost: String, syncRoute: String) {
        self.httpHost = httpHost
        self.syncRoute = syncRoute
    }

    /// Known from configuration: discovery is bypassed.
    package static func fixed(http: String, webSocket: String, appID: String) -> Location {
        Location(
            httpHost: http.withoutTrailingSlashes,
            syncRoute: route(webSocket.withoutTrailingSlashes, appID)
        )
    }

    /// Derived from the base URL alone, before the server was asked (app services, 3.3).
    package static func derived(fromBaseURL baseURL: String, appID: String) -> Location {
        let host = baseURL.withoutTrailingSlashes
        return Location(httpHost: host, syncRoute: route(webSocketHost(of: host), appID))
    }

    /// From the response of the location route; an empty host name keeps the requested one.
    static func from(_ answer: LocationBody, askedAt host: String, appID: String) -> Location {
        let httpHost = answer.hostname.isEmpty ? host : answer.hostname.withoutTrailingSlashes
        let webSocket =
            answer.webSocketHostname.isEmpty
            ? webSocketHost(of: httpHost) : answer.webSocketHostname.withoutTrailingSlashes
        return Location(
            httpHost: httpHost,
            syncRoute: answer.syncRoute ?? route(webSocket, appID)
        )
    }

    private static func route(_ webSocketHost: String, _ appID: String) -> String {
        "\(webSocketHost)\(ServicePath.app(appID))/realm-sync"
    }

    /// The table of app services, 3.3.
    static func webSocketHost(of httpHost: String) -> String {
        guard httpHost.hasPrefix("http"), httpHost.utf8.count >= 7 else { return httpHost }
        let isSecure = httpHost.hasPrefix("https")
        let scheme = isSecure ? "wss" : "ws"
        let rest = httpHost.dropFirst(isSecure ? 5 : 4)
        if httpHost.contains("realm.mongodb.com") {
            return "\(scheme)://ws.\(rest.drop { $0 == ":" || $0 == "/" })"
        }
        if let cloud = rest.firstRange(of: "services.cloud.mongodb.com") {
            let prefix = rest[..<cloud.lowerBound].drop { $0 == ":" || $0 == "/" }
            return "\(scheme)://\(prefix)ws.\(rest[cloud.lowerBound...])"
        }
        return scheme + rest
    }
}

/// The body of the location route's answer.
struct LocationBody: Decodable {
    let hostname: String
    let webSocketHostname: String
    let syncRoute: String?

    enum CodingKeys: String, CodingKey {
        case hostname
        case webSocketHostname = "ws_hostname"
        case syncRoute = "sync_route"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.hostname = try container.decode(String.self, forKey: .hostname)
        self.webSocketHostname = try container.decode(String.self, forKey: .webSocketHostname)
        // Absent is fine, null is not.
        self.syncRoute =
            container.contains(.syncRoute)
            ? try container.decode(String.self, forKey: .syncRoute) : nil
    }
}

/// Paths of the API (app services, 1).
enum ServicePath {
    static let base = "/api/client/v2.0"

    static func app(_ id: String) -> String {
        "\(base)/app/\(id)"
    }
}

extension String {
    /// Whether TLS protects what is sent to this URL.
    var isSecure: Bool { hasPrefix("https://") || hasPrefix("wss://") }

    /// Whether the URL leads to this machine: no other machine sees the tokens that are sent there.
    var isOfThisMachine: Bool {
        guard let start = firstRange(of: "://")?.upperBound else { return false }
        let authority = self[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else { return false }
        let host =
            authority.hasPrefix("[")
            ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host == "::1"
            || (parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil })
    }

    var withoutTrailingSlashes: String {
        var text = self[...]
        while text.hasSuffix("/") { text = text.dropLast() }
        return String(text)
    }
}
