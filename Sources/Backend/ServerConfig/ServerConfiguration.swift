package import Settings

/// The content of `realm-server.yaml`, checked (interfaces, 8).
package struct ServerConfiguration: Hashable, Sendable {
    package var listen: ListenAddress
    /// The address in the response of the location route; nil mirrors the request.
    package var publicURL: PublicURL?
    /// Proxies whose `X-Forwarded-For` is trusted.
    package var trustedProxies: [AddressRange]
    package var storage: StorageLocation
    /// The admin socket; nil for the default.
    package var adminSocket: String?
    /// The address for metrics and health, which are also on the admin socket; nil for none.
    package var metricsAddress: ListenAddress?
    /// Nil: without TLS.
    package var tls: CertificateFiles?
    package var log: ServerLogConfiguration
    package var limits: ServerLimits
    /// In the order of the file.
    package var apps: [ServedAppConfiguration]

    package init(
        listen: ListenAddress = .standardOfServer,
        publicURL: PublicURL? = nil,
        trustedProxies: [AddressRange] = [],
        storage: StorageLocation,
        adminSocket: String? = nil,
        metricsAddress: ListenAddress? = nil,
        tls: CertificateFiles? = nil,
        log: ServerLogConfiguration = ServerLogConfiguration(),
        limits: ServerLimits = .standard,
        apps: [ServedAppConfiguration]
    ) {
        self.listen = listen
        self.publicURL = publicURL
        self.trustedProxies = trustedProxies
        self.storage = storage
        self.adminSocket = adminSocket
        self.metricsAddress = metricsAddress
        self.tls = tls
        self.log = log
        self.limits = limits
        self.apps = apps
    }
}

extension ServerConfiguration {
    /// The configured admin socket. Without one: the packaged path if the store has its packaged
    /// path, else a path beside the store.
    package var adminSocketPath: String {
        if let adminSocket { return adminSocket }
        guard storage != .standard, case .sqlite(let path) = storage else {
            return "/run/realm-server/admin.sock"
        }
        let directory = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
        return "\(directory)/admin.sock"
    }
}

extension ListenAddress {
    /// The address of a server without `server.listen`.
    package static let standardOfServer = ListenAddress(host: "127.0.0.1", port: 9090)
}

/// The server's address for clients: scheme and authority, without a trailing slash.
package struct PublicURL: Hashable, Sendable {
    package let http: String

    /// Nil unless it is `http://` or `https://` with an authority and nothing else.
    package init?(_ text: String) {
        var url = text[...]
        while url.hasSuffix("/") { url = url.dropLast() }
        let scheme = ["http://", "https://"].first { url.hasPrefix($0) }
        guard let scheme else { return nil }
        let authority = url.dropFirst(scheme.count)
        let isPlain = authority.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        guard !authority.isEmpty, isPlain, !authority.contains(where: { "/?#@\\\"".contains($0) })
        else { return nil }
        self.http = String(url)
    }

    /// The same authority for WebSockets.
    package var webSocket: String { "ws" + http.dropFirst(4) }
}

package struct ServerLogConfiguration: Hashable, Sendable {
    package enum Level: String, Hashable, Sendable, CaseIterable {
        case off, fatal, error, warn, info, detail, debug, trace, all
    }

    package enum Output: String, Hashable, Sendable, CaseIterable {
        case journald
        case stderr
    }

    package var level: Level
    /// Nil: the journal where standard error is connected to it.
    package var output: Output?

    package init(level: Level = .info, output: Output? = nil) {
        self.level = level
        self.output = output
    }
}
