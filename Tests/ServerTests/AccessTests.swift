import Changesets
import FoundationEssentials
import JSON
import Query
import Schemas
import Scopes
import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore

/// App services, 12.2; wire protocol, 13.5; interfaces, 8.
@Suite("Rules and declared schemas")
struct AccessTests {
    private static func user(_ id: String, _ data: [String: JSONValue] = [:]) -> User {
        User(id: UserID(id), identities: [], isDisabled: false, data: data)
    }

    @Test(
        "A rule holds for whom it says",
        arguments: [
            ("true", true), ("false", false), ("partition == user.id", true),
            ("partition != user.id", false), ("partition == 'bob'", false),
            ("NOT partition == \"bob\"", true), ("user.data.role == 'manager'", true),
            ("user.data.team.number == 7", true), ("user.data.none == null", true),
            ("user.data.role == 'clerk' OR true", true),
            ("false AND true OR true", true), ("false AND (true OR true)", false),
            ("partition == null", false),
        ]
    )
    func rules(text: String, expected: Bool) throws {
        let data: [String: JSONValue] = [
            "role": .string("manager"), "team": .object(["number": .integer(7)]),
        ]
        let rule = try AccessRule(text)
        #expect(rule.admits(Self.user("ann", data), to: .string("ann")) == expected)
    }

    @Test(
        "A member that is missing, or null, equals nothing; null in a rule asks whether it is missing",
        arguments: [
            ("partition == user.data.team", false), ("user.data.team == partition", false),
            ("user.data.team == user.data.group", false), ("user.data.team == ''", false),
            ("user.data.void == partition", false), ("user.data.void == user.data.team", false),
            ("partition != user.data.team", true), ("user.data.team == null", true),
            ("null == user.data.team", true), ("user.data.team != null", false),
            ("user.data.void == null", true), ("partition == null", true),
            ("user.data.team", false), ("null == null", true),
            ("user.data.team.number == 7", false),
        ]
    )
    func missingMembers(text: String, expected: Bool) throws {
        let user = Self.user("ann", ["void": .null, "role": .string("clerk")])
        #expect(try AccessRule(text).admits(user, to: .null) == expected)
    }

    @Test(
        "The error of an invalid rule gives the column, the reason and a remedy",
        arguments: [
            ("", "column 1: the text ends where a value must follow; complete it"),
            ("partition ==", "column 13: the text ends where a value must follow; complete it"),
            (
                "partition = 1",
                "column 11: unexpected \"=\"; compare with ==, != or IN, and put text between quotes"
            ),
            ("(true", "column 6: the text ends where \")\" must follow; complete it"),
            ("'abc", "column 1: the string is not closed; close it with '"),
            ("true true", "column 6: unexpected true; write an operator here"),
            (
                "true OR role == 1",
                "column 9: \"role\" is unknown; use partition, user.id, user.type, "
                    + "user.data.NAME or user.custom_data.NAME"
            ),
        ]
    )
    func badRules(text: String, reason: String) {
        let error = #expect(throws: QueryError.self) { try AccessRule(text) }
        #expect(error?.description == reason)
    }

    private static func app(read: String? = nil, write: String? = nil) throws
        -> ServedAppConfiguration
    {
        var app = TestApps.configurations[0]
        app.access = AccessRules(
            read: try read.map { try AccessRule($0) },
            write: try write.map { try AccessRule($0) }
        )
        return app
    }

    @Test("A client without read permission gets an error at BIND, and no realm is created")
    func read() async throws {
        let app = try Self.app(read: "partition == user.id")
        try await SyncWorld.with(.memory, apps: [app]) { world in
            let user = try await world.logIn()
            try await world.connect(as: user) { client in
                try await client.bind(1, "\"store-42\"")
                let report = try await client.expectError(session: 1)
                #expect(report.code == 206)
                #expect(report.body.action == .deleteRealm)
                #expect(!report.body.tryAgain)
                try await client.send(.unbind(1))
                try await client.start(2, "\"\(user.user.id)\"")
            }
            let files = try await world.apps.store.read { try $0.files(of: TestApps.shop) }
            #expect(files.map(\.partition) == [.string(Text(user.user.id.rawValue))])
        }
    }

    @Test("Writes that are not allowed are undone for their client, and reported before that")
    func write() async throws {
        let app = try Self.app(write: "user.data.email == 'ann@example.net'")
        try await SyncWorld.with(.memory, apps: [app]) { world in
            _ = await world.apps.register("ann@example.net", "correct horse")
            let login = await world.apps.logIn("ann@example.net", "correct horse").fields
            let token = login["access_token"] ?? ""
            let ann = SyncWorld.LoggedIn(
                user: try await world.apps.accounts.authorizeSync(token, app: TestApps.shop),
                token: token
            )
            let guest = try await world.logIn()
            try await world.connect(as: ann) { writer in
                try await writer.start()
                try await writer.upload([
                    upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "kept")),
                ])
                _ = try await writer.expectDownload()

                let (file, latest) = try await world.connect(as: guest) { client in
                    let (file, first) = try await client.start()
                    #expect(first.changesets.count == 2)
                    // The schema is not what the rule is about; the objects are.
                    try await client.upload(
                        [
                            upload(2, on: 2), upload(3, on: 2, Tasks.setTitle(1, "spoilt")),
                            upload(4, on: 2, Tasks.create(9, title: "new")),
                        ],
                        locked: 2
                    )
                    var versions: [ServerVersion] = []
                    for (clientVersion, id) in [(UInt64(3), Int64(1)), (4, 9)] {
                        let report = try await client.expectError(session: 1)
                        #expect(report.code == 231)
                        #expect(report.body.action == .warning)
                        guard case .compensated(let rejected, let version)? = report.body.details
                        else { throw TestClient.Unexpected(wanted: "rejected updates") }
                        #expect(rejected.clientVersion == ClientVersion(clientVersion))
                        #expect(rejected.updates.map(\.className) == ["Task"])
                        #expect(rejected.updates.map(\.key) == [.int(id)])
                        versions.append(version)
                    }
                    #expect(versions == [ServerVersion(5), ServerVersion(7)])
                    let undone = try await client.expectDownload()
                    #expect(undone.changesets.map(\.cursor.serverVersion) == versions)
                    #expect(undone.changesets.map(\.originFileIdent) == [.server, .server])
                    #expect(undone.progress.upload == uploadCursor(4, 2))
                    #expect(undone.progress.download == downloadCursor(7, 4))
                    return (file, undone.progress.latestServerVersion)
                }
                // Other clients get only the schema, which is unchanged.
                let other = try await writer.expectDownload()
                #expect(other.changesets.map(\.cursor.serverVersion.rawValue) == [3])
                #expect(other.progress.download.serverVersion == ServerVersion(7))

                // A client that has not got the version hears of it again, and of nothing else.
                try await world.connect(as: guest) { client in
                    try await client.bind(needsFileIdent: false)
                    try await client.ident(1, file, at: downloadCursor(5, 3), latest: latest)
                    let report = try await client.expectError(session: 1)
                    guard case .compensated(let rejected, let version)? = report.body.details
                    else { throw TestClient.Unexpected(wanted: "rejected updates") }
                    #expect(version == ServerVersion(7))
                    #expect(rejected.clientVersion == ClientVersion(4))
                    #expect(try await client.expectDownload().changesets.count == 1)
                }
            }
        }
    }

    @Test("In development mode a class and its first object in one changeset are told apart")
    func classAndObject() async throws {
        let app = try Self.app(write: "user.data.email == 'ann@example.net'")
        try await SyncWorld.with(.memory, apps: [app]) { world in
            try await world.connect { client in
                try await client.start()
                var writer = ChangesetWriter()
                writer.addTopLevelClass("Note", primaryKey: "_id", type: .int, isNullable: false)
                writer.createObject(ObjectReference(className: "Note", key: .int(1)))
                try await client.upload([upload(2, on: 0, writer.bytes)])
                let report = try await client.expectError(session: 1)
                #expect(report.code == 231)
                guard case .compensated(let rejected, _)? = report.body.details else {
                    throw TestClient.Unexpected(wanted: "rejected updates")
                }
                #expect(rejected.updates.map(\.className) == ["Note"])
                // The class stays: rules are about objects.
                let undone = try await client.expectDownload()
                #expect(undone.progress.upload == uploadCursor(2, 0))
            }
        }
    }

    @Test("Rules of an app of the store can be changed, and sessions bind again")
    func setRules() async throws {
        try await SyncWorld.with(.memory) { world in
            await world.admin.call(
                "POST",
                "apps",
                #"{"id":"till","configuration":"{\"providers\":{\"anonymous\":true}}"}"#
            )
            let till = AppID.named("till")
            let user = try await world.logIn(to: till)
            try await world.connect(as: user) { client in
                try await client.start()
                let wrong = await world.admin.call(
                    "PUT",
                    "apps/till/rules/access",
                    #"{"read":"?"}"#
                )
                #expect(wrong.status == 400)
                let reply = await world.admin.call(
                    "PUT",
                    "apps/till/rules/access",
                    #"{"read":"partition == 'mine'"}"#
                )
                #expect(reply.text == #"{"app":"till","read":"partition == 'mine'"}"#)
                let report = try await client.expectError(session: 1)
                #expect(report.code == 200)
                try await client.send(.unbind(1))
                try await client.bind()
                #expect(try await client.expectError(session: 1).code == 206)
            }
            let again = try await TestApps(store: world.apps.store, seed: 2)
            #expect(
                again.accounts.apps[till]?.configuration.access.read?.text == "partition == 'mine'"
            )
            let file = await world.admin.call("PUT", "apps/shop-abcde/rules/access", "{}")
            #expect(file.status == 409)
        }
    }

    @Test("Every realm has the declared schema, and grows when the declaration does")
    func declaredSchema() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/schema.yaml"
            let text = """
                classes:
                  Task:
                    primary_key: _id
                    properties: { _id: int, title: string }
                """
            try Data(text.utf8).write(to: URL(filePath: path))
            let app = ServedAppConfiguration(id: TestApps.shop, anonymous: true, schemaFile: path)
            let schema = try AppSchemaFile.read(path)
            try await SyncWorld.with(.memory, apps: [app]) { world in
                try await world.connect { client in
                    let (_, download) = try await client.start()
                    #expect(download.changesets.map(\.originFileIdent) == [.server])
                    let changeset = try Changeset(decoding: download.changesets[0].bytes)
                    var realm = RealmSchema()
                    for instruction in changeset.instructions {
                        _ = try realm.apply(instruction, strings: changeset.strings)
                    }
                    #expect(realm == schema)
                    try await client.upload(
                        [upload(2, on: 1, Tasks.create(1, title: "x"))],
                        locked: 1
                    )
                    _ = try await client.expectDownload()
                    // No other user may add to it.
                    try await client.upload(
                        [upload(3, on: 2, Tasks.addColumn("more", .int))],
                        locked: 2
                    )
                    #expect(try await client.expectError(session: 1).code == 225)
                }
            }
            await #expect(throws: AppSchemaFile.Unusable.self) {
                var missing = app
                missing.schemaFile = "\(directory)/none.yaml"
                _ = try await TestApps(apps: [missing])
            }
        }
    }

    // MARK: A program

    /// Users write the partition with their id and read the one named "open".
    private static let program = """
        while read -r line; do
            id=$(printf %s "$line" | sed 's/.*"id":\\([0-9]*\\),"kind".*/\\1/')
            user=$(printf %s "$line" | sed 's/.*"id":"\\([^"]*\\)","type".*/\\1/')
            case "$line" in
                *"\\"partition\\":\\"$user\\""*) echo "{\\"id\\":$id,\\"read\\":true,\\"write\\":true}" ;;
                *'"partition":"open"'*) echo "{\\"id\\":$id,\\"read\\":true,\\"write\\":false}" ;;
                *) echo "{\\"id\\":$id,\\"read\\":false,\\"write\\":false}" ;;
            esac
        done
        """

    private static func app(program script: String) -> ServedAppConfiguration {
        var app = TestApps.configurations[0]
        app.accessProgram = AccessProgramConfiguration(
            hook: HookConfiguration(command: ["/bin/sh", "-c", script])
        )
        return app
    }

    @Test("A program decides on reading at BIND, and on writing at UPLOAD")
    func program() async throws {
        let app = Self.app(program: Self.program)
        try await SyncWorld.with(.webSocket, apps: [app]) { world in
            let user = try await world.logIn()
            try await world.connect(as: user) { client in
                try await client.bind(1, "\"other\"")
                let report = try await client.expectError(session: 1)
                #expect(report.code == 206)
                try await client.send(.unbind(1))
                // What the user writes here stays.
                try await client.start(2, "\"\(user.user.id)\"")
                try await client.upload(
                    [upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "kept"))],
                    in: 2
                )
                _ = try await client.expectDownload(2)
                try await client.send(.unbind(2))
            }
            try await world.connect(as: user) { client in
                try await client.start(1, "\"open\"")
                try await client.upload([
                    upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "spoilt")),
                ])
                #expect(try await client.expectError(session: 1).code == 231)
            }
        }
    }

    @Test("While the program fails, clients get no access, keep their files and try again")
    func failingProgram() async throws {
        let app = Self.app(program: "exit 1")
        try await SyncWorld.with(.webSocket, apps: [app]) { world in
            let user = try await world.logIn()
            try await world.connect(as: user) { client in
                try await client.bind(1, "\"\(user.user.id)\"")
                let report = try await client.expectError(session: 1)
                #expect(report.code == 201)
                #expect(report.body.tryAgain)
                #expect(report.body.action == .transient)
            }
            #expect(try await world.apps.store.read { try $0.files(of: TestApps.shop) }.isEmpty)
        }
    }

    @Test("A server that cannot ask the program admits no user")
    func unaskedProgram() async throws {
        try await SyncWorld.with(.memory, apps: [Self.app(program: Self.program)]) { world in
            let user = try await world.logIn()
            try await world.connect(as: user) { client in
                try await client.bind(1, "\"\(user.user.id)\"")
                #expect(try await client.expectError(session: 1).code == 206)
            }
        }
    }
}
