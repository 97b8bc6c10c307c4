import Changesets
import FoundationEssentials
import Permissions
import Query
import SyncProtocol
import TestSupport
import Testing
import Versions

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

@Suite("The program of asymmetric classes")
struct AppSinkTests {
    private static let schema: [UInt8] = {
        var writer = ChangesetWriter()
        writer.addTopLevelClass(
            "Reading",
            primaryKey: "_id",
            type: .int,
            isNullable: false,
            isAsymmetric: true
        )
        writer.addColumn("value", to: "Reading", type: .int, isNullable: false, collection: .single)
        return writer.bytes
    }()

    private static func reading(_ id: Int64) -> [UInt8] {
        var writer = ChangesetWriter()
        let object = ObjectReference(className: "Reading", key: .int(id))
        writer.createObject(object)
        writer.update(object, "value", to: .scalar(.int(id * 10)))
        return writer.bytes
    }

    private static func app(_ script: String, _ spool: String) -> ServedAppConfiguration {
        ServedAppConfiguration(
            id: TestApps.shop,
            isDevelopmentMode: true,
            anonymous: true,
            flexible: FlexibleSyncConfiguration(
                roles: RoleDeclarations(standard: [
                    RoleDeclaration(name: "all", read: .all, write: .all)
                ]),
                sink: AsymmetricSinkConfiguration(
                    hook: HookConfiguration(command: ["/bin/sh", "-c", script]),
                    spool: spool
                )
            )
        )
    }

    /// Binds, and uploads the schema and one reading for each number.
    private static func ingest(
        _ numbers: Range<Int64>,
        into app: ServedAppConfiguration
    ) async throws -> String {
        try await SyncWorld.with(.webSocket, apps: [app]) { world in
            let user = try await world.logIn()
            try await world.connect(as: user, mode: .flexible) { client in
                try await client.bind(1, #"{"schemaVersion":0,"sessionReason":0}"#)
                let file = try await client.expectIdent()
                let query = ClientMessage.Query(version: QueryVersion(0), body: "{}")
                try await client.send(
                    .ident(
                        .init(
                            session: 1,
                            file: file,
                            download: .zero,
                            latestServerVersion: .zero,
                            query: query
                        )
                    )
                )
                _ = try await client.expectDownload()
                try await client.upload(
                    [upload(2, on: 0, schema)]
                        + numbers.map { upload(UInt64($0 + 3), on: 0, reading($0)) }
                )
                // Acknowledged: the lines are in the spool.
                let last = ClientVersion(UInt64(numbers.upperBound) + 2)
                while try await client.expectDownload().progress.upload.clientVersion < last {}
            }
            return user.user.id.rawValue
        }
    }

    @Test("It gets the objects as JSON lines, at the next start if the server ended before")
    func delivery() async throws {
        let directory = try TemporaryDirectory()
        let (spool, output) = ("\(directory.path)/spool", "\(directory.path)/lines")
        // At first the program fails.
        let user = try await Self.ingest(1..<4, into: Self.app("exit 1", spool))
        #expect(!FileManager.default.fileExists(atPath: output))
        let works = Self.app("cat >>\(output)", spool)
        let expected = (1...3).map {
            #"{"class":"Reading","user":"\#(user)","document":{"_id":\#($0),"value":\#($0 * 10)}}"#
        }
        try await SyncWorld.with(.webSocket, apps: [works]) { _ in
            try await until {
                let text = try? String(contentsOfFile: output, encoding: .utf8)
                return text?.split(separator: "\n").count ?? 0 >= expected.count
            }
        }
        let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
        #expect(lines.map(String.init) == expected)
    }

    @Test("A server does not start with the spool of another one")
    func locked() async throws {
        let directory = try TemporaryDirectory()
        let app = Self.app("cat >/dev/null", "\(directory.path)/spool")
        try await SyncWorld.with(.webSocket, apps: [app]) { _ in
            let error = await #expect(throws: (any Error).self) {
                try await SyncWorld.with(.webSocket, apps: [app]) { _ in }
            }
            #expect((error as? any CodedError)?.code == "server.spool_locked")
        }
    }
}
