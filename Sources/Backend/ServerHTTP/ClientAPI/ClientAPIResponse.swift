import JSON

/// A response of the client API.
struct ClientAPIResponse: Hashable, Sendable {
    let status: Int
    /// Nil for a response without body.
    let body: [UInt8]?
    let retryAfterInSeconds: Int?
    let contentType: String

    init(
        status: Int,
        body: [UInt8]? = nil,
        retryAfterInSeconds: Int? = nil,
        contentType: String = Self.json
    ) {
        self.status = status
        self.body = body
        self.retryAfterInSeconds = retryAfterInSeconds
        self.contentType = contentType
    }

    /// Clients read only the status.
    static func empty(_ status: Int) -> ClientAPIResponse {
        ClientAPIResponse(status: status, body: Array("{}".utf8))
    }

    /// Clients reject one with parameters, such as a charset (app services, 11.2).
    static let json = "application/json"

    init(_ refusal: ServiceRefusal) {
        self.init(
            status: refusal.status,
            body: (try? RefusalBody(refusal).json()) ?? Array("{\"error\":\"error\"}".utf8),
            retryAfterInSeconds: refusal.retryAfterInSeconds
        )
    }
}
