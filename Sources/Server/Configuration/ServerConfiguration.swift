/// Everything `realm-server.yaml` says, checked (interfaces, 8).
package struct ServerConfiguration: Hashable, Sendable {
    package var listen: ListenAddress
    /// What the location route answers; nil mirrors the request.
    package var publicURL: PublicURL?
    /// Whose `X-Forwarded-For` is believed.
    package var trustedProxies: [AddressRange]
    package var storage: StorageLocation
    /// Where an operator reaches the server; nil: beside the store.
    package var adminSocket: String?
    /// Nil: without TLS.
    package var tls: ServerTLS.TLSFiles?
    package var log: LogConfiguration
    package var limits: ServerLimits
    /// In the order of the file.
    package var apps: [AppConfiguration]

    package init(
        listen: ListenAddress = .standard,
        publicURL: PublicURL? = nil,
        trustedProxies: [AddressRange] = [],
        storage: StorageLocation,
        adminSocket: String? = nil,
        tls: ServerTLS.TLSFiles? = nil,
        log: LogConfiguration = LogConfiguration(),
        limits: ServerLimits = .standard,
        apps: [AppConfiguration]
    ) {
        self.listen = listen
        self.publicURL = publicURL
        self.trustedProxies = trustedProxies
        self.storage = storage
        self.adminSocket = adminSocket
        self.tls = tls
        self.log = log
        self.limits = limits
        self.apps = apps
    }
}

extension ServerConfiguration {
    /// The admin socket that is configured; without one, the usual place of a server that systemd
    /// starts, or beside a store that is anywhere else.
    package var adminSocketPath: String {
        if let adminSocket { return adminSocket }
        guard storage != .standard, case .sqlite(let path) = storage else {
            return "/run/realm-server/admin.sock"
        }
        let directory = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
        return "\(directory)/admin.sock"
    }
}

/// Where connections come in; HTTP and WebSocket share it.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    package let host: String
    /// 0 lets the system choose.
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`, an IPv6 address in brackets; nil if it is anything else.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || "/[]".contains($0) }),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        self.init(host: String(host), port: Int(port))
    }

    package static let standard = ListenAddress(host: "127.0.0.1", port: 9090)

    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// Where clients reach the server from outside: scheme and authority, without a trailing slash.
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

package enum StorageLocation: Hashable, Sendable, CustomStringConvertible {
    case sqlite(path: String)

    package var description: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        }
    }

    package static let standard = StorageLocation.sqlite(
        path: "/var/lib/realm-server/server.sqlite"
    )
}

package struct LogConfiguration: Hashable, Sendable {
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
