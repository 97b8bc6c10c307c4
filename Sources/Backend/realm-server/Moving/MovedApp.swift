import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import Migration
import Platform
import Query
import Scheduling
import SchemaFiles
import ServerConfig
import ServerHTTP
import ServerMigration
import ServerStorage
import ServerStore
import Settings
import Surroundings
import WorkDisplay

/// The options of commands that move data of a configured app.
struct MovedAppOptions: ParsableArguments {
    @OptionGroup var file: ConfigurationFile

    @Option(name: .customLong("app"), help: "The app's id.")
    var id: String

    /// The app's part of the configuration, and the place of the store.
    func configuration() throws -> (app: ServedAppConfiguration, storage: StorageLocation) {
        let configuration = try file.read()
        guard let app = configuration.apps.first(where: { $0.id.rawValue == id }) else {
            throw ValidationError("\(file.path) has no app \"\(id)\"")
        }
        return (app, configuration.storage)
    }

    /// The schema and the map, as one target.
    func target(_ app: ServedAppConfiguration, map path: String, isStrict: Bool = false)
        async throws -> ImportTarget
    {
        try await Import.reporting {
            guard let schemaFile = app.schemaFile else {
                throw MigrationFailure(
                    "import.map",
                    "app \(app.id) has no schema file",
                    remedy: "configure the one that import app wrote"
                )
            }
            let schema = SchemaFile.parse(try Self.bytes(schemaFile), file: schemaFile)
            let map = CollectionMap.parse(try Self.bytes(path), file: path)
            guard let declaration = schema.declaration, let map = map.map else {
                let problems = schema.diagnostics.map(\.description) + map.problems
                throw MigrationFailure(
                    "import.map",
                    problems.joined(separator: "\n"),
                    remedy: "correct the file"
                )
            }
            return try ImportTarget(
                app: app.id,
                map: map,
                declaration: declaration,
                isQueryable: app.flexible.map { flexible in
                    { @Sendable in flexible.queryableFields.contains($1, of: $0) }
                },
                isStrict: isStrict
            )
        }
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw MigrationFailure(
                "import.map",
                "\(path) cannot be read",
                remedy: "name a readable file"
            )
        }
    }

    /// Lends the store, also beside a running server.
    func withStore<Outcome>(
        _ location: StorageLocation,
        _ body: (any Store, RunningServer?) async throws -> Outcome
    ) async throws -> Outcome {
        do {
            let (opened, server) = try await open(location)
            do {
                let outcome = try await body(opened.store, server)
                await opened.close()
                return outcome
            } catch {
                await opened.close()
                throw error
            }
        } catch let error as StoreError {
            StandardError.print("realm-server: error: \(error.code): \(error)")
            throw ExitCode(error.kind == .locked ? 3 : error.kind == .diskFull ? 1 : 2)
        }
    }

    /// A store in a file is opened beside a server only if that one agrees on its admin socket. One on PostgreSQL
    /// is for several processes anyway.
    private func open(_ location: StorageLocation) async throws -> (OpenStore, RunningServer?) {
        let random = RandomSource(SystemRandomNumberGenerator())
        let opening = StoreOpening(
            secrets: SecretReader(environment: ProcessInfo.processInfo.environment),
            versionSalts: VersionSalts(random.salt()),
            clock: WallClock { WallTime.now().millisecondsSince1970 },
            program: serverVersion,
            logger: Logger(label: "Import")
        )
        do {
            return (try await opening.open(location), nil)
        } catch let error as StoreError where error.kind == .locked {
            let server = RunningServer(
                client: AdminClient(socketPath: try file.adminSocketPath()),
                app: id
            )
            guard await server.serves else { throw error }
            return (try await opening.openBesideServer(location), server)
        }
    }
}

/// Shows how far an import or its comparison is, by the bytes of its sources.
struct SourceProgress {
    private let display = ProgressDisplay()
    private let total: UInt64?

    /// - Parameter files: nil sizes are of pipes, whose end is not known.
    init(_ files: [SourceFile]) {
        let sizes = files.map(\.sizeInBytes)
        self.total = sizes.contains(nil) ? nil : sizes.reduce(0) { $0 + ($1 ?? 0) }
    }

    func note(_ bytes: UInt64, _ documents: Int) {
        display.show(WorkProgress(bytes, of: total, text: display.rate(documents, "document")))
    }

    func end() { display.end() }
}
