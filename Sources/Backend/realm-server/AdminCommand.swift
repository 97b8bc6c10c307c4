import ArgumentParser
import Platform
import ServerHTTP
import ServerStore

/// The options of commands that call a running server.
struct AdminOptions: ParsableArguments {
    @OptionGroup var file: ConfigurationFile

    @Flag(help: "Print the server's response as JSON.")
    var json = false

    /// No server responds, or this user may not call it.
    static let unreachable = ExitCode(3)

    /// Calls the server that runs with this configuration; prints errors on standard error.
    @discardableResult
    func call(
        _ method: AdminClient.Method,
        _ path: String,
        body: some Encodable = [String: String]()
    ) async throws -> [UInt8] {
        try await file.call(method, path, body: method == .get ? [] : try AdminJSON.encode(body))
    }

    /// Prints the response as it came, or as the command has it for people.
    func print<Response: Decodable>(
        _ response: [UInt8],
        as type: Response.Type,
        _ lines: (Response) -> [String]
    ) throws {
        guard !json else { return Swift.print(String(decoding: response, as: UTF8.self)) }
        for line in lines(try AdminJSON.decode(type, from: response)) { Swift.print(line) }
    }
}

extension ConfigurationFile {
    /// Calls the server that runs with this configuration; prints errors on standard error.
    func call(
        _ method: AdminClient.Method,
        _ path: String,
        body: [UInt8] = []
    ) async throws -> [UInt8] {
        let client = AdminClient(socketPath: try adminSocketPath())
        do throws(AdminClient.Failure) {
            return try await client.call(method, path, body: body)
        } catch {
            StandardError.print("realm-server: \(error)")
            throw error.code == "server.refused" ? ExitCode.failure : AdminOptions.unreachable
        }
    }
}

/// Names the app of a command.
struct AppOption: ParsableArguments {
    @Option(name: .customLong("app"), help: "The app's id.")
    var id: String

    /// The app's path in the admin API.
    func path(_ rest: String = "") throws -> String {
        guard let app = AppID(id) else { throw ValidationError("\"\(id)\" is not an app id") }
        return rest.isEmpty ? "apps/\(app)" : "apps/\(app)/\(rest)"
    }
}

/// Names a user or key of an app by its id, for commands that change it.
struct MemberOptions: ParsableArguments {
    @OptionGroup var options: AdminOptions
    @OptionGroup var app: AppOption

    @Argument(help: "Its id, as \"list\" shows it.")
    var id: String

    /// `path`: its path below the app. `deed`: the message after success.
    func change(
        _ method: AdminClient.Method,
        _ path: String,
        _ deed: String
    ) async throws {
        try await options.call(method, try app.path(path))
        if !options.json { Swift.print(deed) }
    }
}

/// Asks for confirmation of what cannot be undone.
struct Confirmation: ParsableArguments {
    @Flag(name: .customLong("yes"), help: "Do not ask for confirmation.")
    var isGiven = false

    func ask(_ question: String) throws {
        guard !isGiven else { return }
        StandardError.print("\(question) Type \"yes\" to continue:")
        guard readLine() == "yes" else {
            StandardError.print("realm-server: nothing was done")
            throw ExitCode.failure
        }
    }
}
