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
import ServerMigration
import ServerStorage
import ServerStore
import Settings
import Surroundings

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

    /// Lends the store, which no server may use meanwhile.
    func withStore<Outcome>(
        _ location: StorageLocation,
        _ body: (any Store) async throws -> Outcome
    ) async throws -> Outcome {
        let random = RandomSource(SystemRandomNumberGenerator())
        let opening = StoreOpening(
            secrets: SecretReader(environment: ProcessInfo.processInfo.environment),
            versionSalts: VersionSalts(random.salt()),
            clock: WallClock { WallTime.now().millisecondsSince1970 },
            program: serverVersion,
            logger: Logger(label: "Import")
        )
        do {
            let opened = try await opening.open(location)
            do {
                let outcome = try await body(opened.store)
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
}

/// Shows how far a command is: a bar on a terminal, a line every ten seconds elsewhere.
final class ProgressReport {
    private let total: UInt64?
    private let started = ContinuousClock.now
    private var next = ContinuousClock.now
    private let isTerminal = isatty(STDERR_FILENO) != 0
    private static let width = 30

    /// - Parameter files: nil sizes are of pipes, whose end is not known.
    init(_ files: [SourceFile]) {
        let sizes = files.map(\.sizeInBytes)
        self.total = sizes.contains(nil) ? nil : sizes.reduce(0) { $0 + ($1 ?? 0) }
    }

    func note(_ bytes: UInt64, _ documents: Int) {
        let now = ContinuousClock.now
        guard now >= next else { return }
        next = now + (isTerminal ? .milliseconds(200) : .seconds(10))
        let seconds = max(1, (now - started).components.seconds)
        let rate = "\(documents) documents, \(Int64(documents) / seconds)/s"
        guard let total, total > 0 else { return write(rate) }
        let share = min(1, Double(bytes) / Double(total))
        let filled = Int(share * Double(Self.width))
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: ".", count: Self.width - filled)
        write(
            isTerminal ? "[\(bar)] \(Int(share * 100)) % \(rate)" : "\(Int(share * 100)) %, \(rate)"
        )
    }

    func end() {
        if isTerminal { show("") }
    }

    private func write(_ text: String) {
        if isTerminal { show(text) } else { StandardError.print(text) }
    }

    /// Replaces the line of the terminal.
    private func show(_ text: String) {
        let bytes = Array("\r\u{1b}[K\(text)".utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
