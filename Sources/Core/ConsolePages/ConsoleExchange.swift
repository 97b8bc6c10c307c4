/// A request of a browser, as far as the console looks at it.
package struct ConsoleRequest: Hashable, Sendable {
    package let method: String
    /// Path and query.
    package let target: String
    package let host: String?
    package let origin: String?
    package let cookie: String?
    package let contentType: String?
    /// `Sec-Fetch-Site`, which browsers send and pages cannot change.
    package let fetchSite: String?
    package let body: [UInt8]

    package init(
        method: String,
        target: String,
        host: String?,
        origin: String? = nil,
        cookie: String? = nil,
        contentType: String? = nil,
        fetchSite: String? = nil,
        body: [UInt8] = []
    ) {
        self.method = method
        self.target = target
        self.host = host
        self.origin = origin
        self.cookie = cookie
        self.contentType = contentType
        self.fetchSite = fetchSite
        self.body = body
    }

    package static let maximumBodySizeInBytes = 16 << 10
}

package struct ConsoleResponse: Hashable, Sendable {
    package let status: Int
    package let fields: [String: String]
    package let body: String

    private init(_ status: Int, _ type: String, _ body: String, _ fields: [String: String] = [:]) {
        self.status = status
        self.body = body
        self.fields = Self.common.merging(fields) { $1 }.merging(["content-type": type]) { $1 }
    }

    /// Nothing but its own style is ever loaded, no script runs, no other page may show it or be sent
    /// its forms. The referrer policy keeps `Origin` in forms' requests.
    private static let common = [
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; style-src 'self'; form-action 'self'; "
            + "frame-ancestors 'none'; base-uri 'none'",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    ]

    package static func page(_ html: HTML, status: Int = 200) -> ConsoleResponse {
        ConsoleResponse(status, "text/html; charset=utf-8", html.markup)
    }

    static func style(_ text: String) -> ConsoleResponse {
        ConsoleResponse(200, "text/css; charset=utf-8", text)
    }

    static func refusal(_ status: Int, _ reason: String) -> ConsoleResponse {
        ConsoleResponse(status, "text/plain; charset=utf-8", "\(reason)\n")
    }

    static func redirection(to target: String, cookie: String? = nil) -> ConsoleResponse {
        var fields = ["location": target]
        fields["set-cookie"] = cookie
        return ConsoleResponse(303, "text/plain; charset=utf-8", "", fields)
    }
}
