import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

/// Peers that write any number into any field, against the running programs (wire protocol, 14).
@Suite("Peers that forge every number", .serialized, .timeLimit(.minutes(30)))
struct HostilePeerTests {
    // MARK: A client

    /// A client's message, and its earlier ones on the same connection.
    private struct Line {
        let state: State
        let text: String

        enum State: Int {
            case connected, bound, identified
        }
    }

    private static let lines = [
        Line(state: .connected, text: "bind 1 6 0 1 0\n\"main\""),
        Line(state: .bound, text: "ident 1 2 4611686018427387905 0 0 0 0\n"),
        Line(
            state: .identified,
            text: "upload 1 0 27 0 5 0 0\n5 0 345600000000 0 6 \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"
        ),
        Line(state: .identified, text: "upload 1 0 0 0 8 0 0\n"),
        Line(state: .identified, text: "mark 1 1\n"),
        Line(state: .identified, text: "unbind 1\n"),
        Line(state: .identified, text: "ping 5023 0\n"),
        Line(
            state: .identified,
            text: "json_error 212 27 1\n{\"message\":\"BadChangeset 212\"}"
        ),
        Line(
            state: .identified,
            text: "test_command 1 1 34\n{\"command\":\"PAUSE_ROUTER_SESSION\"}"
        ),
    ]

    @Test("A client's: the server answers or closes, serves the others, and does not end")
    func client() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        try await deployment.withServer { server in
            let login = try deployment.logInAnonymously()
            let token = try #require(login.field("access_token"))
            var count = 0
            for line in Self.lines {
                for message in MessageVariants.of(line.text) {
                    count += 1
                    try say(message, in: line.state, deployment, token)
                }
            }
            print("\(count) forged messages of a client")
            #expect(kill(server.pid, 0) == 0, "\(deployment.log("server").suffix(3_000))")
            try await deployment.withAgent("a") { _ in
                let status = try await deployment.sync("a").status
                #expect(status == 0)
            }
        }
        #expect(!deployment.log("server").contains("Fatal error"))
    }

    /// Says one message, then asks for a sign of life until the server answers or closes.
    private func say(
        _ message: [UInt8],
        in state: Line.State,
        _ deployment: Deployment,
        _ token: String
    ) throws {
        let connection = try RawConnection(port: deployment.port)
        try connection.upgrade(Deployment.app, token)
        if state != .connected {
            try connection.sendFrame("bind 1 6 0 1 0\n\"main\"")
            let answer = try connection.receiveFrame()
            guard case .message(let text)? = answer, text.hasPrefix("ident 1 ") else {
                throw RawConnection.Failure(what: "no ident but \(String(describing: answer))")
            }
            if state == .identified {
                let file = text.dropFirst("ident 1 ".count).dropLast()
                try connection.sendFrame("ident 1 \(file) 0 0 0 0\n")
            }
        }
        try connection.sendFrame(message)
        try connection.sendFrame("ping 77 0\n")
        while case .message(let text)? = try connection.receiveFrame() {
            // After an error of the connection the server waits for the client to close.
            if text.hasPrefix("pong 77\n") || text.hasPrefix("json_error ") && text.isOfConnection {
                return
            }
        }
    }

    // MARK: A server

    /// The next number to replace, in which message, and its replacement.
    private final class Forger: Sendable {
        private let rest: Mutex<[String: [(run: Int, number: String)]]>
        let total: Int

        /// The number of integers in the head of each of these messages.
        init(_ heads: [String: Int]) {
            let plans = heads.mapValues { count in
                (0..<count).flatMap { run in MessageVariants.numbers.map { (run, $0) } }
            }
            self.total = plans.values.reduce(0) { $0 + $1.count }
            self.rest = Mutex(plans)
        }

        var remaining: Int { rest.withLock { $0.values.reduce(0) { $0 + $1.count } } }

        func forge(_ bytes: [UInt8]) -> [UInt8] {
            let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            var words = bytes[..<end].split(separator: UInt8(ascii: " ")).map(Array.init)
            let next = rest.withLock { rest in
                words.first.flatMap { name in
                    let name = String(decoding: name, as: UTF8.self)
                    return rest[name]?.isEmpty == false ? rest[name]?.removeLast() : nil
                }
            }
            guard let next, next.run + 1 < words.count else { return bytes }
            words[next.run + 1] = Array(next.number.utf8)
            return Array(words.joined(separator: [UInt8(ascii: " ")])) + bytes[end...]
        }
    }

    @Test("With a hostile server the agent keeps running, and syncs with another server")
    func server() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let users = 16
        let forger = Forger(["ident": 3, "download": 11, "mark": 2, "unbound": 1, "pong": 1])
        try await deployment.withServer { _ in
            try await Middleman.with(serverPort: deployment.port, { _ in .pass }) {
                middleman,
                port in
                middleman.forge { forger.forge($0) }
                try configure(deployment, users, through: port)
                try await deployment.withAgent("a") { agent in
                    // A realm that was made to start over for nothing gives up, as it should.
                    _ = try await eventually {
                        for user in 0..<users {
                            _ = try await ask(deployment, "retry", "r\(user)")
                        }
                        return forger.remaining * 10 < forger.total
                    }
                    print("\(forger.total - forger.remaining) of \(forger.total) forged")
                    #expect(forger.remaining * 2 < forger.total)
                    #expect(kill(agent.pid, 0) == 0, "\(deployment.log("a").suffix(3_000))")
                    let status = try await ask(deployment, "status")
                    #expect(status.status == 0, "\(status.errors)")
                    let sync = try await ask(deployment, "sync", "--timeout", "180s", "healthy")
                    #expect(sync.status == 0, "\(sync.errors)")
                }
            }
        }
        #expect(!deployment.log("a").contains("Fatal error"))
    }

    private func ask(_ deployment: Deployment, _ words: String...) async throws
        -> Programs.Outcome
    {
        let options = ["--config", "\(deployment.directory)/a.yaml"]
        return try await Programs.run("realm-agent", words + options)
    }

    /// An agent with so many users whose server forges, and one whose server does not.
    private func configure(_ deployment: Deployment, _ users: Int, through port: Int) throws {
        try deployment.configure("a")
        try deployment.lead("a", to: port)
        var text = try String(contentsOfFile: "\(deployment.directory)/a.yaml", encoding: .utf8)
        let schema = "\(deployment.directory)/schema.yaml"
        let app = """
              honest:
                app_id: \(Deployment.app)
                base_url: http://127.0.0.1:\(deployment.port)
            users:

            """
        text = text.replacing("users:\n", with: app)
        let named = (0..<users).map { "  u\($0): { app: app, provider: anonymous }" }
        let realms = (0..<users).map {
            "\n  r\($0): { user: u\($0), partition: { string: p\($0) }, schema: \(schema) }"
        }
        let all = named.joined(separator: "\n") + "\n  h: { app: honest, provider: anonymous }\n"
        text = text.replacing("realms:\n", with: all + "realms:\n")
        text += realms.joined()
        text += "\n  healthy: { user: h, partition: { string: main }, schema: \(schema) }\n"
        try deployment.write("a.yaml", text)
    }
}

extension String {
    /// Whether this error names no session.
    fileprivate var isOfConnection: Bool {
        prefix { $0 != "\n" }.hasSuffix(" 0")
    }
}
