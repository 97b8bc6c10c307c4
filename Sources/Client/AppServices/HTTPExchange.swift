/// A request of the App Services API, before anything about connections is decided.
package struct ServiceRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    package let method: Method
    /// Scheme, authority and path.
    package let url: String
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    package init(
        method: Method,
        url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A response of any status.
package struct ServiceResponse: Sendable {
    package let status: Int
    package let contentType: String?
    /// The time of the server's clock, from the `Date` header.
    package let date: String?
    package let body: [UInt8]

    package init(status: Int, contentType: String?, date: String? = nil, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.date = date
        self.body = body
    }
}

/// No answer came: the server could not be reached, or did not finish in time.
package struct UnreachableError: Error, Sendable {
    /// For people; holds no secret.
    package let reason: String
    package let kind: Kind

    package init(reason: String, kind: Kind = .connection) {
        self.reason = reason
        self.kind = kind
    }

    package enum Kind: Sendable, Equatable {
        /// No connection was made, or it was lost.
        case connection
        /// One end does not trust the other, or they share no version of TLS.
        case tls
        /// No answer in time.
        case silence
    }
}

/// Carries requests to a server and answers back.
package protocol HTTPExchange: Sendable {
    /// Follows no redirect (app services, 2.5).
    func perform(
        _ request: ServiceRequest,
        timeout: Duration
    ) async throws(UnreachableError) -> ServiceResponse
}
