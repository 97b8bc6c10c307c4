/// A call of the client API, independent of its connection.
struct ClientAPIRequest: Sendable {
    let method: String
    let path: String
    /// Without the `?`.
    let query: String
    /// The `Authorization` header.
    let authorization: String?
    /// The `Host` header.
    let host: String?
    /// The client's address, for limits.
    let address: String
    let body: [UInt8]

    init(
        method: String,
        path: String,
        query: String = "",
        authorization: String? = nil,
        host: String? = nil,
        address: String = "",
        body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.authorization = authorization
        self.host = host
        self.address = address
        self.body = body
    }

    /// Larger bodies are refused (app services, 11.4).
    static let maximumBodySizeInBytes = 4 << 20

    /// The token after the word `Bearer`, in any case (app services, 2.1).
    var bearerToken: String? {
        guard let authorization else { return nil }
        return BearerToken.parse(authorization)
    }
}

extension ClientAPIRequest {
    /// The value of an item of the query, which needs no escapes here.
    func item(_ name: String) -> String? {
        query.split(separator: "&").first { $0.hasPrefix("\(name)=") }
            .map { String($0.dropFirst(name.count + 1)) }
    }
}

enum BearerToken {
    static func parse(_ header: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer", !parts[1].isEmpty else {
            return nil
        }
        return String(parts[1])
    }
}
