import FoundationEssentials

/// The answer to one request of the client API, made over a connection of its own.
struct HTTPReply {
    let status: Int
    let head: String
    let body: String

    /// A member of the answer that is a string.
    func field(_ name: String) -> String? {
        let members = try? JSONDecoder().decode([String: String].self, from: Data(body.utf8))
        return members?[name]
    }
}

extension Deployment {
    /// Calls the client API; `path` begins behind its base path. `from`: what a proxy says about the client.
    func call(
        _ method: String,
        _ path: String,
        _ body: String = "",
        token: String? = nil,
        from client: String? = nil
    ) throws -> HTTPReply {
        let connection = try RawConnection(port: port)
        var head = "\(method) /api/client/v2.0\(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
        head += "Content-Length: \(body.utf8.count)\r\n"
        if let token { head += "Authorization: Bearer \(token)\r\n" }
        if let client { head += "X-Forwarded-For: \(client)\r\n" }
        try connection.send(Array("\(head)\r\n\(body)".utf8))
        let answer = try connection.readToEnd()
        guard let end = answer.firstRange(of: "\r\n\r\n"),
            let status = Int(answer.dropFirst("HTTP/1.1 ".count).prefix(3))
        else { throw RawConnection.Failure(what: "no answer to \(method) \(path)") }
        return HTTPReply(
            status: status,
            head: String(answer[..<end.lowerBound]),
            body: String(answer[end.upperBound...])
        )
    }

    private static let providers = "/app/\(app)/auth/providers"

    func register(_ email: String, _ password: String) throws -> HTTPReply {
        let body = #"{"email":"\#(email)","password":"\#(password)"}"#
        return try call("POST", "\(Self.providers)/local-userpass/register", body)
    }

    /// `link`: the access token of a user that gets this way in.
    func logIn(
        _ name: String,
        _ password: String,
        linking link: String? = nil,
        from client: String? = nil
    ) throws -> HTTPReply {
        try call(
            "POST",
            "\(Self.providers)/local-userpass/login\(link == nil ? "" : "?link=true")",
            #"{"username":"\#(name)","password":"\#(password)"}"#,
            token: link,
            from: client
        )
    }

    func logInAnonymously() throws -> HTTPReply {
        try call("POST", "\(Self.providers)/anon-user/login", "{}")
    }
}

/// The most memory that a process has had so far, in MiB.
func peakMemory(of process: Int32) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    guard let line, let kibibytes = Int(line.filter(\.isNumber)) else {
        throw RawConnection.Failure(what: "no memory of process \(process)")
    }
    return kibibytes / 1024
}
