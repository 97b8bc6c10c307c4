import ArgumentParser
import ServerHTTP
import ServerStore

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Control the sync of an app's clients.",
        subcommands: [
            Status.self, Pause.self, Enable.self, Terminate.self, Migrate.self, ResetClient.self,
        ]
    )

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show whether an app syncs, and its connections."
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        func run() async throws {
            try options.printSync(try await options.call(.get, try app.path("sync")))
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disconnect all clients; after \"enable\" they continue where they stopped."
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        func run() async throws {
            let change = SyncChange(state: .paused)
            try options.printSync(
                try await options.call(.put, try app.path("sync"), body: change)
            )
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let clients sync again, after a pause or a termination."
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        func run() async throws {
            let change = SyncChange(state: .enabled)
            try options.printSync(
                try await options.call(.put, try app.path("sync"), body: change)
            )
        }
    }

    struct Terminate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make every client start over; the objects on the server stay.",
            discussion: """
                Clients cannot sync until "sync enable"; then each gets a client reset. A client's \
                unsynced changes are recovered only if client_recovery is on and the client's \
                mode of reset recovers them.
                """
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption
        @OptionGroup var confirmation: Confirmation

        func run() async throws {
            let path = try app.path("sync/terminate?confirm=\(app.id)")
            try confirmation.ask("This makes every client of app \(app.id) start over.")
            try options.printSync(try await options.call(.post, path))
        }
    }
}

extension Sync {
    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move an app's objects to the other mode of sync.",
            discussion: """
                All clients start over, and cannot sync until "sync enable". Set sync.mode in the \
                configuration and reload it before that. sync.partition_key names the property \
                that has the partition of each object.
                """
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption
        @OptionGroup var confirmation: Confirmation

        @Flag(help: "Back to partition-based sync.")
        var rollback = false

        func run() async throws {
            let path = try app.path("sync/migration?confirm=\(app.id)")
            try confirmation.ask("This makes every client of app \(app.id) start over.")
            let migration = SyncMigration(rollback ? .rollback : .start)
            let response = try await options.call(.put, path, body: migration)
            try options.print(response, as: SyncMigrationReport.self) { report in
                ["\(report.objects) objects in \(report.mode) mode"]
            }
        }
    }

    struct ResetClient: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make one client file start over; all others continue.",
            discussion: """
                For a file that is damaged or was restored from a copy. "realms inspect" shows the \
                clients of a realm with their numbers. The client gets a client reset when it \
                connects, or at once if it is connected.
                """
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption
        @OptionGroup var confirmation: Confirmation
        @OptionGroup var partition: PartitionArgument

        @Argument(help: "The number of the client file.")
        var client: UInt64

        private struct Body: Encodable {
            let partition: String
            let client: UInt64
        }

        func run() async throws {
            let path = try app.path("realms/reset-client?confirm=\(app.id)")
            try confirmation.ask("This makes client \(client) start over.")
            let body = Body(partition: partition.canonicalText, client: client)
            try await options.call(.post, path, body: body)
            if !options.json { print("client \(client) starts over") }
        }
    }
}

private struct SyncChange: Encodable {
    let state: SyncState
}

extension AdminOptions {
    fileprivate func printSync(_ response: [UInt8]) throws {
        try print(response, as: AppSyncReport.self) { report in
            [
                "app \(report.app): sync \(report.state.rawValue), "
                    + "\(report.connections) connections, \(report.sessions) sessions, "
                    + "\(report.realms) realms"
                    + (report.healedUploads > 0
                        ? ", \(report.healedUploads) uploads did not fit" : "")
            ]
        }
    }
}
