import Glibc
import HTTPTypes
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServerStore
import ServiceLifecycle
package import Surroundings

/// Serves the admin API on a Unix socket that only the server's own user may use.
package struct AdminListener: Sendable {
    let path: String
    let api: AdminAPI
    let clock: WallClock
    let logger: Logger

    /// `path`: of the socket.
    package init(path: String, api: AdminAPI, clock: WallClock, logger: Logger) {
        self.path = path
        self.api = api
        self.clock = clock
        self.logger = logger
    }

    /// The socket cannot be created there.
    package struct BindError: CodedError, CustomStringConvertible {
        let path: String
        let reason: String

        package let code = "server.admin_socket"

        package var description: String { "cannot serve the admin socket \(path): \(reason)" }
    }

    /// Replaces a socket that a killed server has left: the lock of the store makes this the only
    /// server.
    package func run() async throws {
        let server = try HTTPServerBuilder.http1().buildServer(
            configuration: HummingbirdCore.ServerConfiguration(
                address: .unixDomainSocket(path: path)
            ),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "Admin") { _ in SwiftLogNoOpLogHandler() },
            responder: { [self] request, writer, channel in
                let response = await response(to: request, by: try await AdminCaller.of(channel))
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: { [path, logger] _ in
                chmod(path, 0o600)
                logger.info("admin socket", metadata: ["path": "\(path)"])
            }
        )
        do {
            try await server.run()
        } catch let error as IOError {
            throw BindError(path: path, reason: String(cString: strerror(error.errnoCode)))
        } catch is UnixDomainSocketPathWrongType {
            throw BindError(path: path, reason: "the file there is not a socket")
        }
        unlink(path)
    }

    private func response(to request: Request, by caller: AdminCaller?) async -> Response {
        let target = request.head.path ?? "/"
        let path = target.prefix { $0 != "?" }
        let outcome: ClientAPIResponse
        if let body = try? await request.body.collect(
            upTo: ClientAPIRequest.maximumBodySizeInBytes
        ) {
            outcome = await api.respond(
                to: ClientAPIRequest(
                    method: request.method.rawValue,
                    path: String(path),
                    query: String(target.dropFirst(path.count + 1)),
                    body: Array(buffer: body)
                ),
                by: caller
            )
        } else {
            outcome = ClientAPIResponse(.bodyTooLarge)
        }
        var fields = HTTPFields()
        fields[.date] = clock.httpDate
        fields[.contentType] = outcome.body == nil ? nil : outcome.contentType
        return Response(
            status: HTTPResponse.Status(code: outcome.status),
            headers: fields,
            body: outcome.body.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) }
                ?? ResponseBody()
        )
    }
}
