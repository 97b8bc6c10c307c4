import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Speaks the control API of a running agent.
package struct ControlClient: Sendable {
    private let socketPath: String
    /// Longest answer read: a status of some ten thousand realms.
    private static let maximumReplySizeInBytes = 16 << 20

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

    private func call<Answer: Decodable & Sendable>(
        _ method: HTTPMethod,
        _ path: String,
        body: [UInt8] = [],
        timeout: Duration
    ) async throws(ControlError) -> Answer {
        let (status, reply) = try await exchange(method, path, body: body, timeout: timeout)
        guard status == 200 else {
            if let body = try? JSONBody.decode(ControlError.Body.self, from: reply) {
                throw body.error
            }
            throw ControlError(
                code: "agent.malformed_answer",
                message: "the agent answered with HTTP status \(status)"
            )
        }
        guard let answer = try? JSONBody.decode(Answer.self, from: reply) else {
            throw ControlError(
                code: "agent.malformed_answer",
                message: "the agent's answer cannot be read",
                remedy: "restart the agent, so that it is of the same version as this program"
            )
        }
        return answer
    }

    private func exchange(
        _ method: HTTPMethod,
        _ path: String,
        body: [UInt8],
        timeout: Duration
    ) async throws(ControlError) -> (status: UInt, body: [UInt8]) {
        var configuration = HTTPClient.Configuration()
        // Where nobody listens nobody will within the time-out: say so at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: configuration
        )
        let url = "http+unix://\(percentEncoded(socketPath))/\(path)"
        var request = HTTPClientRequest(url: url)
        request.method = method
        if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        let result: Result<(status: UInt, body: [UInt8]), ControlError>
        do {
            let reply = try await client.execute(request, timeout: TimeAmount(timeout))
            let body = try await reply.body.collect(upTo: Self.maximumReplySizeInBytes)
            result = .success((reply.status.code, Array(buffer: body)))
        } catch {
            result = .failure(.noAgent(socket: socketPath))
        }
        try? await client.shutdown()
        return try result.get()
    }

    /// The socket's path stands where a host name would, so all but plain characters are escaped.
    private func percentEncoded(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return path.utf8.reduce(into: "") { text, byte in
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber {
                text.append(character)
            } else {
                text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }
}
