import ArgumentParser
import Glibc
import Logging
import Platform
import ServerConsole
import ServerHTTP
import ServiceLifecycle
import UnixSignals

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Serve a page in this machine's browser to watch and control the server.",
        discussion: """
            Prints the page's address and runs until interrupted. The address has a key, which is valid \
            for this run: keep it to yourself. The page listens on 127.0.0.1 only, and each of its calls \
            is one on the admin socket, with your rights. From another machine, forward the port: \
            ssh -L PORT:127.0.0.1:PORT SERVER.
            """
    )

    @OptionGroup var file: ConfigurationFile

    @Option(help: "The port on 127.0.0.1; 0 lets the system choose.")
    var port = 9466

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("the port must be between 0 and 65535")
        }
    }

    func run() async throws {
        // Fails like the other commands if no server responds, or if it refuses this user.
        _ = try await file.call(.get, "health")
        let listener = ConsoleListener(
            client: AdminClient(socketPath: try file.adminSocketPath()),
            port: port,
            key: Self.secret(),
            token: Self.secret()
        ) { address in
            print(address)
            fflush(nil)
        }
        do {
            try await ServiceGroup(
                services: [Serving(listener: listener)],
                gracefulShutdownSignals: [.sigint, .sigterm],
                logger: Logger(label: "Console") { _ in SwiftLogNoOpLogHandler() }
            ).run()
        } catch let error as ConsoleListener.BindError {
            StandardError.print("realm-server: \(error)")
            throw ExitCode.failure
        }
    }

    private struct Serving: Service {
        let listener: ConsoleListener

        func run() async throws { try await listener.run() }
    }

    /// 256 random bits.
    private static func secret() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
