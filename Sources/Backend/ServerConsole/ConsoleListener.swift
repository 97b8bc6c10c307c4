import ConsolePages
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
package import ServerHTTP
import ServiceLifecycle
import Synchronization

/// Serves the operator's console on the loopback interface, in a process of its own: each of its calls is
/// one on the admin socket, with the rights of the user who runs it.
package struct ConsoleListener: Sendable {
    private let backend: ConsoleBackend
    private let port: Int
    private let key: String
    private let token: String
    private let onListening: @Sendable (String) -> Void
    private let deeds = Deeds()

    private final class Deeds: Sendable {
        let newest = Mutex<[ConsoleDeed]>([])

        func add(_ deed: ConsoleDeed) {
            newest.withLock { $0 = ($0 + [deed]).suffix(ConsolePage.maximumDeeds) }
        }
    }

    /// The port cannot be listened on.
    package struct BindError: Error, CustomStringConvertible {
        let port: Int
        let reason: String

        package var description: String {
            "cannot serve the console on 127.0.0.1:\(port): \(reason); name another --port"
        }
    }

    /// - Parameters:
    ///   - port: 0 lets the system choose.
    ///   - key: admits the operator's browser; random.
    ///   - token: proves that a form is of a page of this run; random.
    ///   - onListening: receives the address for the operator's browser, which has the key.
    package init(
        client: AdminClient,
        port: Int,
        key: String,
        token: String,
        onListening: @escaping @Sendable (String) -> Void
    ) {
        self.backend = ConsoleBackend(client: client)
        self.port = port
        self.key = key
        self.token = token
        self.onListening = onListening
    }

    /// Serves until a graceful shutdown or the task's cancellation.
    package func run() async throws {
        let server = try HTTPServerBuilder.http1(configuration: .init(idleTimeout: .seconds(60)))
            .buildServer(
                configuration: HummingbirdCore.ServerConfiguration(
                    address: .hostname("127.0.0.1", port: port)
                ),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                logger: Logger(label: "Console") { _ in SwiftLogNoOpLogHandler() },
                responder: { [self] request, writer, channel in
                    let gate = gate(channel)
                    let response = await response(to: request, gate)
                    var fields = HTTPFields()
                    for (name, value) in response.fields {
                        if let name = HTTPField.Name(name) { fields[name] = value }
                    }
                    let head = HTTPResponse(
                        status: HTTPResponse.Status(code: response.status),
                        headerFields: fields
                    )
                    let body = ByteBuffer(string: response.body)
                    try await writer.write(
                        response: head,
                        body: ResponseBody(byteBuffer: body)
                    )
                },
                onServerRunning: { [self] channel in onListening(gate(channel).address) }
            )
        do {
            try await server.run()
        } catch let error as IOError {
            throw BindError(port: port, reason: error.description)
        }
    }

    private func gate(_ channel: any Channel) -> ConsoleGate {
        ConsoleGate(key: key, token: token, port: channel.localAddress?.port ?? port)
    }

    private func response(to request: Request, _ gate: ConsoleGate) async -> ConsoleResponse {
        let limit = ConsoleRequest.maximumBodySizeInBytes
        // A body above the limit is one that cannot be read.
        let body = try? await request.body.collect(upTo: limit)
        let fields = request.headers
        let admission = gate.admit(
            ConsoleRequest(
                method: request.method.rawValue,
                target: request.head.path ?? "/",
                host: request.head.authority,
                origin: fields[.origin],
                cookie: fields[.cookie],
                contentType: body == nil ? nil : fields[.contentType],
                fetchSite: HTTPField.Name("sec-fetch-site").flatMap { fields[$0] },
                body: body.map { Array(buffer: $0) } ?? []
            )
        )
        switch admission {
        case .answer(let response):
            return response
        case .page(let view):
            return await page(view, gate)
        case .action(let action):
            let refusal = await backend.perform(action)
            deeds.add(ConsoleDeed(title: action.title, refusal: refusal))
            return gate.answer(after: action)
        }
    }

    private func page(_ view: ConsoleGate.View, _ gate: ConsoleGate) async -> ConsoleResponse {
        let page = ConsolePage(
            token: gate.formToken,
            view: view,
            deeds: deeds.newest.withLock(\.self)
        )
        do throws(ConsoleFailure) {
            let state = try await backend.state(chosen: view.app, usersAfter: view.after)
            return .page(page.html(state))
        } catch {
            return .page(page.html(failure: error.reason), status: 502)
        }
    }
}
