import FoundationEssentials
import TestSupport
import Testing

/// One server and some agents whose realms have to be reset, as real processes.
struct ResetWorld {
    let deployment: Deployment

    /// - Parameter app: further lines of the app's section in the server's configuration.
    init(app: String = "") throws {
        deployment = try Deployment()
        let server = try String(
            contentsOfFile: "\(deployment.directory)/server.yaml",
            encoding: .utf8
        )
        let socket = "  admin_socket: \(deployment.directory)/admin.sock\n"
        try deployment.write(
            "server.yaml",
            server.replacing("server:\n", with: "server:\n\(socket)", maxReplacements: 1)
                + (app.isEmpty ? "" : "\n    \(app)\n")
        )
    }

    func remove() { deployment.remove() }

    // MARK: Configuration

    /// - Parameters:
    ///   - realm: further keys of the realm, such as `client_reset: { mode: manual }`.
    ///   - plugins: the entries of the section.
    func configure(
        _ agent: String,
        user: Deployment.User = .anonymous,
        realm: String...,
        plugins: String...
    ) throws {
        try deployment.configure(agent, user: user)
        let file = "\(deployment.directory)/\(agent).yaml"
        var text = try String(contentsOfFile: file, encoding: .utf8) + "\n"
        for key in realm { text += "    \(key)\n" }
        if !plugins.isEmpty { text += "plugins:\n" }
        for plugin in plugins { text += "  \(plugin)\n" }
        try deployment.write("\(agent).yaml", text)
    }

    /// Changes a text of a configuration that is there.
    func change(_ file: String, _ old: String, _ new: String) throws {
        let text = try String(
            contentsOfFile: "\(deployment.directory)/\(file)",
            encoding: .utf8
        )
        try #require(text.contains(old))
        try deployment.write(file, text.replacing(old, with: new))
    }

    /// Lets a configured agent log in at the server, and sync elsewhere.
    func lead(_ agent: String, to port: Int) throws {
        try deployment.lead(agent, to: port)
    }

    /// Writes a program that handlers run; it finds its request in `$request`.
    func program(_ name: String, _ text: String) throws -> String {
        let path = "\(deployment.directory)/\(name)"
        try deployment.write(name, "#!/bin/sh\nrequest=$(cat)\n\(text)\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    // MARK: Programs

    func server(_ arguments: String...) async throws {
        let files = [
            "--config", "\(deployment.directory)/server.yaml", "--app", Deployment.app,
        ]
        let outcome = try await Programs.run("realm-server", arguments + files)
        #expect(outcome.status == 0, "\(arguments): \(outcome.output)\(outcome.errors)")
    }

    /// Ends the lives of all client files of the app.
    func terminateSync() async throws {
        try await server("sync", "terminate", "--yes")
        try await server("sync", "enable")
    }

    func agent(_ name: String, _ arguments: String...) async throws -> Programs.Outcome {
        let files = ["--config", "\(deployment.directory)/\(name).yaml"]
        return try await Programs.run("realm-agent", arguments + files)
    }

    /// Changes the server's store while the server is down.
    func edit(serverStore sql: String) async throws {
        try await Programs.sqlite3("\(deployment.directory)/server/server.sqlite", sql)
    }

    func copy(_ source: String, to destination: String) async throws {
        let outcome = try await Programs.run(
            "cp",
            [
                "-aT", "\(deployment.directory)/\(source)",
                "\(deployment.directory)/\(destination)",
            ]
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    // MARK: Rows

    func notes(on agent: String) async throws -> String {
        let sql = "SELECT _id, note FROM \"Item\" ORDER BY _id;"
        return try await Programs.sqlite3(deployment.file(agent), sql)
    }

    func write(_ sql: String, on agent: String) async throws {
        try await Programs.sqlite3(deployment.file(agent), sql)
    }

    /// Waits until the notes are these, and says what they are if they do not become so.
    func expectNotes(
        _ expected: String,
        on agent: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var notes = ""
        // A realm that starts over has no tables for a moment.
        let isThere = try await eventually {
            let sql = "SELECT _id, note FROM \"Item\" ORDER BY _id;"
            let outcome = try await Programs.attemptSQL(deployment.file(agent), sql)
            notes = outcome.output + outcome.errors
            return notes == expected
        }
        #expect(
            isThere,
            "\(notes)\(deployment.log(agent))",
            sourceLocation: sourceLocation
        )
    }

    // MARK: What the agent says

    struct Status: Decodable {
        let state: String
        let cause: String?
        let detail: String?
    }

    func status(_ agent: String) async throws -> Status? {
        struct Report: Decodable {
            let realms: [Status]
        }
        let outcome = try await self.agent(agent, "status", "--json")
        let report = try? JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
        return report?.realms.first
    }

    func expectState(
        _ state: String,
        _ detail: String = "",
        on agent: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let isThere = try await eventually {
            guard let status = try await self.status(agent) else { return false }
            return status.state == state
                && (detail.isEmpty || status.detail?.contains(detail) == true)
        }
        let status = try await self.status(agent)
        #expect(
            isThere,
            "\(String(describing: status))\(deployment.log(agent))",
            sourceLocation: sourceLocation
        )
    }

    struct Event: Decodable {
        let event: String
        let realm: String?
        let stage: String?
        let step: String?
        let detail: String?
        let discarded: Int?
        let did_recover: Bool?
        let recovery_path: String?
        let token: String?
        let plugin: String?
        let handled: String?
        let decision: String?
        let failure: String?
    }

    /// The events that the agent has published since its start.
    func events(_ agent: String, _ kind: String) async throws -> [Event] {
        let outcome = try await self.agent(agent, "events")
        return outcome.output.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Event.self, from: Data($0.utf8))
        }.filter { $0.event == kind }
    }

    /// Waits for a reset to come that far, and gives the event that says so.
    func reset(_ agent: String, _ stage: String) async throws -> Event? {
        var event: Event?
        _ = try await eventually {
            event = try await events(agent, "reset").last { $0.stage == stage }
            return event != nil
        }
        return event
    }

    /// Files that resets have kept.
    func recovered(_ agent: String, _ suffix: String) -> [String] {
        let directory = "\(deployment.directory)/\(agent)/recovered"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasSuffix(suffix) }.sorted().map { "\(directory)/\($0)" }
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    func text(_ name: String) -> String {
        let data = FileManager.default.contents(atPath: "\(deployment.directory)/\(name)")
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
