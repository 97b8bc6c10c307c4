import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// Client of a running server's admin API.
package struct AdminClient: Sendable {
    let socketPath: String

    package init(socketPath: String) {
        self.socketPath = socketPath
    }

    /// The error in a response other than success, or the reason for no response.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// A dotted code of `docs/errors.md`.
        package let code: String
        package let message: String

        package var description: String { "\(message) [\(code)]" }
    }

    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// Calls a path below `/admin/v1/`; returns the response's body, empty if there is none.
    package func call(
        _ method: Method,
        _ path: String,
        body: [UInt8] = []
    ) async throws(Failure) -> [UInt8] {
        let (status, response) = try await exchange(method, path, body)
        guard (200..<300).contains(status) else {
            let refusal = try? AdminJSON.decode(Refusal.self, from: response)
            throw Failure(
                code: "server.refused",
                message: refusal?.error ?? "the server responded with HTTP status \(status)"
            )
        }
        return response
    }

    private struct Refusal: Decodable {
        let error: String
    }

    /// Terminating a large app takes its time.
    private static let timeout = TimeAmount.minutes(10)
    private static let maximumResponseSizeInBytes = 64 << 20

    private func exchange(
        _ method: Method,
        _ path: String,
        _ body: [UInt8]
    ) async throws(Failure) -> (status: UInt, body: [UInt8]) {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let host = Self.escaped(socketPath)
        var request = HTTPClientRequest(url: "http+unix://\(host)\(AdminRoute.basePath)/\(path)")
        request.method = HTTPMethod(rawValue: method.rawValue)
        if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        let result: Result<(status: UInt, body: [UInt8]), Failure>
        do {
            let response = try await client.execute(request, timeout: Self.timeout)
            let body = try await response.body.collect(upTo: Self.maximumResponseSizeInBytes)
            result = .success((response.status.code, Array(buffer: body)))
        } catch {
            result = .failure(failure(error))
        }
        try? await client.shutdown()
        return try result.get()
    }

    private func failure(_ error: any Error) -> Failure {
        let cause = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
        switch cause {
        case let error as IOError where [EACCES, EPERM].contains(error.errnoCode):
            return Failure(
                code: "server.forbidden",
                message: "this user may not use \(socketPath); run the command as the server's user"
            )
        case let error as IOError where [ENOENT, ECONNREFUSED, ENOTSOCK].contains(error.errnoCode):
            return Failure(
                code: "server.not_running",
                message: "no server responds on \(socketPath); start one with \"serve\""
            )
        default:
            return Failure(
                code: "server.no_answer",
                message: "the server on \(socketPath) does not respond: \(cause)"
            )
        }
    }

    /// The socket's path replaces the host name, so all but plain characters are escaped.
    private static func escaped(_ path: String) -> String {
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
