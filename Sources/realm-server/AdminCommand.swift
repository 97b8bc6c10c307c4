import ArgumentParser
import Server

/// What every command has that talks to a running server.
struct AdminOptions: ParsableArguments {
    @OptionGroup var file: ConfigurationFile

    @Flag(help: "Print what the server answered, as JSON.")
    var json = false

    /// Nobody answers, or may be asked.
    static let unreachable = ExitCode(3)

    /// Calls the server that runs with this configuration; what goes wrong is said on standard error.
    @discardableResult
    func call(
        _ method: AdminClient.Method,
        _ path: String,
        body: some Encodable = [String: String]()
    ) async throws -> [UInt8] {
        let client = AdminClient(socketPath: try file.adminSocketPath())
        let body = method == .get ? [] : try AdminJSON.encode(body)
        do throws(AdminClient.Failure) {
            return try await client.call(method, path, body: body)
        } catch {
            StandardError.write("realm-server: \(error)")
            throw error.code == "server.refused" ? ExitCode.failure : Self.unreachable
        }
    }

    /// Prints the answer as it came, or as the command has it for people.
    func print<Answer: Decodable>(
        _ answer: [UInt8],
        as type: Answer.Type,
        _ lines: (Answer) -> [String]
    ) throws {
        guard !json else { return Swift.print(String(decoding: answer, as: UTF8.self)) }
        for line in lines(try AdminJSON.decode(type, from: answer)) { Swift.print(line) }
    }
}

/// Names the app that a command is about.
struct AppOption: ParsableArguments {
    @Option(name: .customLong("app"), help: "The app's id.")
    var id: String

    /// Where the app stands in the admin API.
    func path(_ rest: String = "") throws -> String {
        guard let app = AppID(id) else { throw ValidationError("\"\(id)\" is no app id") }
        return rest.isEmpty ? "apps/\(app)" : "apps/\(app)/\(rest)"
    }
}

/// Names one thing of an app by its id, for commands that do something to it and say so.
struct MemberOptions: ParsableArguments {
    @OptionGroup var options: AdminOptions
    @OptionGroup var app: AppOption

    @Argument(help: "Its id, as \"list\" shows it.")
    var id: String

    /// `path`: where it stands in the app. `deed`: what is said once it is done.
    func change(
        _ method: AdminClient.Method,
        _ path: String,
        _ deed: String
    ) async throws {
        try await options.call(method, try app.path(path))
        if !options.json { Swift.print(deed) }
    }
}

/// Asks before what cannot be undone.
struct Confirmation: ParsableArguments {
    @Flag(name: .customLong("yes"), help: "Do it without asking.")
    var isGiven = false

    func ask(_ question: String) throws {
        guard !isGiven else { return }
        StandardError.write("\(question) Type \"yes\" to go on:")
        guard readLine() == "yes" else {
            StandardError.write("realm-server: nothing was done")
            throw ExitCode.failure
        }
    }
}
