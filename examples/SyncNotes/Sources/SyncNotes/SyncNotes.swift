import Foundation
import RealmSync

/// Opens a local realm, syncs it, writes and reads it with SQL, and reacts to changes of others.
///
///     SyncNotes APP_ID BASE_URL DIRECTORY write TEXT
///     SyncNotes APP_ID BASE_URL DIRECTORY follow
@main
struct SyncNotes {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5 else {
            print("usage: SyncNotes APP_ID BASE_URL DIRECTORY (write TEXT | follow)")
            exit(2)
        }
        let directory = arguments[3]
        let app = try SyncApp(
            AppOptions(id: arguments[1], baseURL: arguments[2]),
            directory: directory
        )
        let user = SyncUser("me", of: app, logIn: .anonymous)
        var options = RealmOptions(
            name: "notes",
            path: "\(directory)/notes/notes.sqlite",
            partition: .string("everybody")
        )
        options.schema = try DeclaredSchema(
            yaml: """
                classes:
                  Note:
                    primary_key: _id
                    properties: { _id: uuid, text: string }
                """
        )
        let realm = user.realm(options)

        // The connection and the realm run while the body does.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await user.run() }
            group.addTask { await realm.run() }
            if arguments[4] == "write" {
                try await write(arguments.dropFirst(5).joined(separator: " "), to: realm)
            } else {
                try await follow(realm)
            }
            await realm.finish()
            group.cancelAll()
        }
        await app.close()
    }

    /// Any program may write the file: this one uses the `sqlite3` tool.
    static func write(_ text: String, to realm: SyncedRealm) async throws {
        try check(await realm.waitUntilOpen())
        let literal = text.replacingOccurrences(of: "'", with: "''")
        let key = UUID().uuidString.lowercased()
        try sql(realm, "INSERT INTO Note(_id, text) VALUES ('\(key)', '\(literal)')")
        try check(await realm.sync(timeout: .seconds(60)))
        show("uploaded\n")
    }

    /// Prints every note that is there, and again after each change, until there are three.
    static func follow(_ realm: SyncedRealm) async throws {
        let events = realm.events()
        try check(await realm.sync(timeout: .seconds(60)))
        show(try sql(realm, "SELECT text FROM Note ORDER BY text"))
        show("following\n")
        for await event in events {
            switch event {
            case .changed:
                let notes = try sql(realm, "SELECT text FROM Note ORDER BY text")
                show(notes)
                if notes.split(separator: "\n").count >= 3 { return }
            case .error(let error): show("\(error.code): \(error.message)\n")
            case .activity, .rejected, .subscriptions, .uploaded, .reset: break
            }
        }
    }

    /// At once, also where standard output is a pipe.
    static func show(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    static func check(_ result: SyncResult) throws {
        guard result.outcome == .done else { throw Failure(reason: result.detail ?? "") }
    }

    struct Failure: Error {
        let reason: String
    }

    @discardableResult
    static func sql(_ realm: SyncedRealm, _ statement: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        process.arguments = ["-cmd", ".timeout 10000", realm.path, statement]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(reason: "sqlite3 failed") }
        return String(decoding: data, as: UTF8.self)
    }
}
