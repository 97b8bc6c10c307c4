import Glibc
import Hummingbird
import HummingbirdCore
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
    let backend: any ControlBackend
    private let access: ControlAccess
    private let onListening: @Sendable () async -> Void
    /// More wait in the socket's queue until others have gone.
    private static let maximumConnectionCount = 128

    /// `onListening` runs once requests are served.
    package init(
        socketPath: String,
        backend: any ControlBackend,
        access: ControlAccess,
        onListening: @escaping @Sendable () async -> Void = {}
    ) {
        self.socketPath = socketPath
        self.backend = backend
        self.access = access
        self.onListening = onListening
    }

    package func run() async throws {
        let (onListening, path) = (onListening, socketPath)
        let application = Application(
            router: routes(),
            // Closes idle connections and those with half a request after the timeout. Clients that
            // wait for a response, or follow events, stay.
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: .init(
                address: .unixDomainSocket(path: socketPath),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    Self.maximumConnectionCount,
                    logger: libraryLogger
                )
            ),
            onServerRunning: { _ in
                // Binding applied the umask, which may permit less than this.
                chmod(path, 0o660)
                await onListening()
            },
            logger: libraryLogger
        )
        do {
            try await application.runUntilCancelled(logger: libraryLogger)
        } catch let error as IOError {
            throw Unservable(reason: String(cString: strerror(error.errnoCode)))
        } catch is UnixDomainSocketPathWrongType {
            throw Unservable(reason: "the file is not a socket")
        }
    }

    /// The reason why the socket cannot be served.
    package struct Unservable: Error, CustomStringConvertible {
        let reason: String

        package var description: String { reason }
    }

    /// The library's own messages about start and stop do not belong in the agent's log.
    private var libraryLogger: Logger {
        Logger(label: "Control") { _ in SwiftLogNoOpLogHandler() }
    }

    private func routes() -> Router<ControlContext> {
        let router = Router(context: ControlContext.self)
        router.add(middleware: ErrorResponses())
        router.add(middleware: ChangeGuard(access: access))
        addAgentRoutes(to: router)
        addRealmRoutes(to: router)
        addResetRoutes(to: router)
        addVerification(to: router)
        addSubscriptionRoutes(to: router)
        addOperations(to: router)
        addUserKeys(to: router)
        addFileRoutes(to: router)
        return router
    }
}
