import Glibc
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Serves the control API on a Unix socket (interfaces, 6).
///
/// The socket is for its owner and its group. A socket file left behind by an agent that was
/// killed is replaced, so the caller must already hold the lock that makes it the only agent.
package struct ControlServer: Service {
    private let socketPath: String
    private let backend: any ControlBackend
    private let onListening: @Sendable () async -> Void

    /// `onListening` runs once requests are served.
    package init(
        socketPath: String,
        backend: any ControlBackend,
        onListening: @escaping @Sendable () async -> Void = {}
    ) {
        self.socketPath = socketPath
        self.backend = backend
        self.onListening = onListening
    }

    package func run() async throws {
        let (onListening, path) = (onListening, socketPath)
        let application = Application(
            router: routes(),
            configuration: .init(address: .unixDomainSocket(path: socketPath)),
            onServerRunning: { _ in
                // Binding has left it as the umask has it, which may be less than this.
                chmod(path, 0o660)
                await onListening()
            },
            logger: libraryLogger
        )
        do {
            try await application.run()
        } catch let error as IOError {
            throw Unservable(reason: String(cString: strerror(error.errnoCode)))
        } catch is UnixDomainSocketPathWrongType {
            throw Unservable(reason: "what is there is no socket")
        }
    }

    /// Why nobody can be served.
    package struct Unservable: Error, CustomStringConvertible {
        let reason: String

        package var description: String { reason }
    }

    /// What the library has to say of its start and stop is no news for the agent's log.
    private var libraryLogger: Logger {
        Logger(label: "Control") { _ in SwiftLogNoOpLogHandler() }
    }

    private func routes() -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: ErrorAnswers())
        let backend = backend
        router.get("v1/status") { _, _ in
            try Self.answer(await backend.status())
        }
        router.get("v1/realms/:realm") { _, context in
            let name = try context.parameters.require("realm")
            let status = await backend.status()
            guard let realm = status.realms.first(where: { $0.name == name }) else {
                throw ControlError.unknownRealm(name)
            }
            return try Self.answer(realm)
        }
        router.post("v1/realms/:realm/sync") { request, context in
            let name = try context.parameters.require("realm")
            guard let body = try? await request.body.collect(upTo: 4096),
                let sync = try? JSONBody.decode(SyncRequest.self, from: Array(buffer: body)),
                SyncRequest.timeoutRange.contains(sync.timeoutInSeconds ?? 0)
            else {
                throw ControlError(
                    code: "request.malformed",
                    message: "the body is not a JSON object of a sync request"
                )
            }
            let timeout = sync.timeoutInSeconds.map { Duration.seconds($0) }
            return try Self.answer(try await backend.sync(realm: name, timeout: timeout))
        }
        router.get("v1/health") { _, _ in
            try Self.answer(["status": "ok"])
        }
        return router
    }

    private static func answer(_ value: some Encodable) throws -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: try JSONBody.encode(value)))
        )
    }
}

/// Turns errors into the body that interfaces, 6 prescribes.
private struct ErrorAnswers: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as ControlError {
            return try answer(error)
        } catch let error as HTTPError where error.status == .notFound {
            return try answer(
                ControlError(
                    code: "request.unknown",
                    message: "there is nothing at \(request.uri.path)"
                )
            )
        } catch let error as HTTPError {
            return try answer(
                ControlError(
                    code: "request.malformed",
                    message: error.body ?? error.status.reasonPhrase
                )
            )
        }
    }

    private func answer(_ error: ControlError) throws -> Response {
        Response(
            status: .init(code: error.status),
            headers: [.contentType: "application/json"],
            body: .init(
                byteBuffer: ByteBuffer(bytes: try JSONBody.encode(ControlError.Body(error: error)))
            )
        )
    }
}
