package import NIOSSL
package import Outbound

/// Settings that HTTP requests and WebSockets to an app's servers share.
package struct ServerAccess: Sendable {
    /// Sent with every request and upgrade, in this order.
    package let headers: [(name: String, value: String)]
    package let tls: TLSConfiguration
    package let proxies: ProxyRules

    package init(
        headers: [(name: String, value: String)],
        tls: TLSConfiguration,
        proxies: ProxyRules
    ) {
        self.headers = headers
        self.tls = tls
        self.proxies = proxies
    }
}
