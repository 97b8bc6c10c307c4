import AsyncHTTPClient
import Glibc
import MetricsFormat
import NIOCore
import NIOHTTP1
import NIOPosix

/// Speaks the control API of a running agent.
package struct ControlClient: Sendable {
    let socketPath: String
    /// Longest answer read: a status of some ten thousand realms.
    private static let maximumResponseSizeInBytes = 16 << 20

    package init(socketPath: String) {
        self.socketPath = socketPath
    }

    package func status() async throws(ControlError) -> StatusReport {
        try await call(.GET, "v1/status", timeout: .seconds(10))
    }

    /// Waits for the sync to end; the agent watches the time.
    package func sync(realm: String, timeout: Duration?) async throws(ControlError) -> SyncReport {
        let request = SyncRequest(timeoutInSeconds: timeout.map { $0 / .seconds(1) })
        let body = (try? JSONBody.encode(request)) ?? []
        return try await call(
            .POST,
            "v1/realms/\(realm)/sync",
            body: body,
            timeout: timeout.map { $0 + .seconds(10) } ?? .seconds(365 * 86400)
        )
    }

    package func plugins() async throws(ControlError) -> [PluginReport] {
        try await call(.GET, "v1/plugins", timeout: .seconds(10))
    }

    /// Changed realms are closed in order first, which takes time.
    package func reload() async throws(ControlError) -> ReloadReport {
        try await call(.POST, "v1/reload", timeout: .seconds(120))
    }

    package func logLevels() async throws(ControlError) -> LogReport {
        try await call(.GET, "v1/log", timeout: .seconds(10))
    }

    package func setLogLevel(_ change: LogLevelChange) async throws(ControlError) -> LogReport {
        let body = (try? JSONBody.encode(change)) ?? []
        return try await call(.PUT, "v1/log", body: body, timeout: .seconds(10))
    }

    /// The metrics in the text form of OpenMetrics.
    package func metrics() async throws(ControlError) -> String {
        try await text("v1/metrics")
    }

    func call<Answer: Decodable & Sendable>(
        _ method: HTTPMethod,
        _ path: String,
        body: [UInt8] = [],
        timeout: Duration
    ) async throws(ControlError) -> Answer {
        let (status, response) = try await exchange(method, path, body: body, timeout: timeout)
        guard status == 200 else { throw refusal(status: status, body: response) }
        guard let answer = try? JSONBody.decode(Answer.self, from: response) else {
            throw .malformedAnswer
        }
        return answer
    }

    /// The body of the response to a GET, for text that is not JSON.
    func text(_ path: String) async throws(ControlError) -> String {
        let (status, response) = try await exchange(.GET, path, body: [], timeout: .seconds(60))
        guard status == 200 else { throw refusal(status: status, body: response) }
        return String(decoding: response, as: UTF8.self)
    }

    /// The error in a response other than 200.
    func refusal(status: UInt, body: [UInt8]) -> ControlError {
        if let body = try? JSONBody.decode(ControlError.Body.self, from: body) {
            return body.error
        }
        return ControlError(
            code: "agent.malformed_answer",
            message: "the agent answered with HTTP status \(status)"
        )
    }

    private func exchange(
        _ method: HTTPMethod,
        _ path: String,
        body: [UInt8],
        timeout: Duration
    ) async throws(ControlError) -> (status: UInt, body: [UInt8]) {
        let client = newClient()
        var request = HTTPClientRequest(url: url(of: path))
        request.method = method
        if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        let result: Result<(status: UInt, body: [UInt8]), ControlError>
        do {
            let deadline = NIODeadline.now() + TimeAmount(timeout)
            let response = try await execute(request, by: deadline, through: client)
            let body = try await response.body.collect(upTo: Self.maximumResponseSizeInBytes)
            result = .success((response.status.code, Array(buffer: body)))
        } catch {
            result = .failure(failure(error))
        }
        try? await client.shutdown()
        return try result.get()
    }

    func newClient() -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        // Without a listener, retrying until the timeout would be in vain: fail at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Sends a request; again if so many programs connect at this moment that the kernel refuses one more.
    func execute(
        _ request: HTTPClientRequest,
        by deadline: NIODeadline,
        through client: HTTPClient
    ) async throws -> HTTPClientResponse {
        let lastAttempt = min(deadline, .now() + .seconds(10))
        while true {
            do {
                return try await client.execute(request, deadline: deadline)
            } catch {
                let isQueueFull = (Self.cause(of: error) as? IOError)?.errnoCode == EAGAIN
                guard isQueueFull, .now() < lastAttempt else { throw error }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The socket's path replaces the host name.
    func url(of path: String) -> String {
        "http+unix://\(Self.escaped(socketPath))/\(path)"
    }

    private static func cause(of error: any Error) -> any Error {
        (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
    }

    func failure(_ error: any Error) -> ControlError {
        let cause = Self.cause(of: error)
        switch cause {
        case let error as IOError where [EACCES, EPERM].contains(error.errnoCode):
            return .forbidden(socket: socketPath)
        case let error as IOError where [ENOENT, ECONNREFUSED, ENOTSOCK].contains(error.errnoCode):
            return .noAgent(socket: socketPath)
        case let error as HTTPClientError where error == .deadlineExceeded:
            return .noAnswer(socket: socketPath, reason: "timeout")
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            return .noAnswer(socket: socketPath, reason: "it closed the connection")
        default:
            return .noAnswer(socket: socketPath, reason: "\(cause)")
        }
    }

    /// Text as a part of a URL: all but plain characters are escaped.
    static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { text, byte in
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber {
                text.append(character)
            } else {
                text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }
}
