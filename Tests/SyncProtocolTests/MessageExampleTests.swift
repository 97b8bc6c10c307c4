import Changesets
import ScriptedPeers
import SyncProtocol
import Testing
import Versions

/// The examples of the specification, sections 5 to 7.
@Suite("Messages of the specification")
struct MessageExampleTests {
    static let changeset = "?\u{0}\u{3}Foo"

    static let partitionBasedClient = [
        "bind 1 14 0 1 0\n\"my-partition\"",
        "bind 1 5 0 1 0\n/test",
        "ident 1 2 4611686018427387905 0 0 0 0\n",
        "upload 1 0 27 0 5 0 0\n5 0 345600000000 0 6 \(changeset)",
        "upload 1 0 54 0 7 0 0\n5 0 345600000000 0 6 \(changeset)6 0 345600000125 0 6 \(changeset)",
        "upload 1 0 0 0 8 9 9\n",
        "mark 1 1\n",
        "unbind 1\n",
        "ping 5023 0\n",
        "json_error 212 62 1\n{\"message\":\"BadChangeset: Failed to apply received changeset\"}",
        "test_command 1 1 34\n{\"command\":\"PAUSE_ROUTER_SESSION\"}",
    ]

    static let flexibleClient = [
        "bind 1 37 0 1 0\n{\"schemaVersion\":0,\"sessionReason\":0}",
        "ident 1 42 5893201745339822071 7 12 9 3344556677 1 32\n{\"Task\":\"(owner_id == \\\"ann\\\")\"}",
        "ident 1 42 5893201745339822071 0 0 0 0 0 2\n{}",
        "query 1 1 32\n{\"Task\":\"(owner_id == \\\"ann\\\")\"}",
        "query 1 2 63\n{\"Dog\":\"(age > 3) OR (name == \\\"x\\\")\",\"Task\":\"(TRUEPREDICATE)\"}",
    ]

    static let partitionBasedServer = [
        "ident 1 2 4611686018427387905\n",
        "download 1 9 5 9 7812345678901234567 5 0 0 0 29 0\n9 0 345600000000 3 6 6 \(changeset)",
        "download 1 9 5 9 7812345678901234567 5 0 0 0 0 0\n",
        "unbound 1\n",
        "error 100 28 1 0\nConnection closed (no error)",
        "error 208 26 0 1\nBad client file identifier",
        #"""
        json_error 208 156 1
        {"message":"Bad client file identifier (IDENT)","isRecoveryModeDisabled":false,"tryAgain":false,"logURL":"","shouldClientReset":true,"action":"ClientReset"}
        """#,
        #"""
        json_error 113 143 0
        {"message":"use flexible sync","isRecoveryModeDisabled":false,"tryAgain":false,"logURL":"","shouldClientReset":false,"action":"ApplicationBug"}
        """#,
        #"""
        json_error 200 225 1
        {"message":"session closed: permissions changed","isRecoveryModeDisabled":false,"tryAgain":true,"logURL":"","shouldClientReset":false,"action":"Transient","backoffIntervalSec":1,"backoffMaxDelaySec":300,"backoffMultiplier":2}
        """#,
        #"""
        json_error 231 289 1
        {"message":"write reverted","isRecoveryModeDisabled":false,"tryAgain":true,"logURL":"","shouldClientReset":false,"action":"Warning","compensatingWriteServerVersion":31,"rejectedClientVersion":11,"rejectedUpdates":[{"table":"Task","pk":"CmUD8oZK+IlKoE2w5A==","reason":"write not allowed"}]}
        """#,
        #"""
        json_error 232 189 1
        {"message":"app moved to flexible sync","isRecoveryModeDisabled":false,"tryAgain":false,"logURL":"","shouldClientReset":false,"action":"MigrateToFLX","partitionQuery":"realm_id == \"foo\""}
        """#,
        #"""
        json_error 236 173 1
        {"message":"schema version changed","isRecoveryModeDisabled":false,"tryAgain":false,"logURL":"","shouldClientReset":false,"action":"MigrateSchema","previousSchemaVersion":0}
        """#,
        "mark 1 1\n",
        "pong 5023\n",
        "log_message 0 69\n{\"co_id\":\"65fcadedd44b15fa576305f2\",\"level\":\"info\",\"msg\":\"connected\"}",
        "log_message 1 49\n{\"level\":\"debug\",\"msg\":\"bound to client file 42\"}",
        "test_command 1 1 2\n{}",
    ]

    static let flexibleServer = [
        "download 1 5 0 5 0 0 0 1 0 0.4 0 29 0\n5 0 345600000000 1 6 6 \(changeset)",
        "download 1 5 0 5 0 0 0 1 1 1 0 29 0\n5 0 345600000000 1 6 6 \(changeset)",
        "download 1 1 0 1 0 0 0 0 1 1 0 23 0\n1 0 345600000000 1 0 0 ",
        "download 1 6 12 6 0 12 5 1 2 1 0 0 0\n",
        "query_error 226 38 1 3\n\"age\" is not a queryable field of Task",
    ]

    @Test("A client's message", arguments: partitionBasedClient)
    func clientMessage(text: String) throws {
        let message = try ClientMessage(decoding: Array(text.utf8), context: .partitionServer)
        #expect(String(decoding: message.encoded(), as: UTF8.self) == text)
    }

    @Test("A client's message of flexible sync", arguments: flexibleClient)
    func flexibleClientMessage(text: String) throws {
        let context = WireContext(mode: .flexible, limits: .server)
        let message = try ClientMessage(decoding: Array(text.utf8), context: context)
        #expect(String(decoding: message.encoded(), as: UTF8.self) == text)
    }

    @Test("A server's message", arguments: partitionBasedServer)
    func serverMessage(text: String) throws {
        let message = try ServerMessage(decoding: Array(text.utf8), context: .partitionClient)
        #expect(String(decoding: message.encoded(), as: UTF8.self) == text)
    }

    @Test("A server's message of flexible sync", arguments: flexibleServer)
    func flexibleServerMessage(text: String) throws {
        let context = WireContext(mode: .flexible, limits: .client)
        let message = try ServerMessage(decoding: Array(text.utf8), context: context)
        #expect(String(decoding: message.encoded(), as: UTF8.self) == text)
    }

    @Test("The compressed UPLOAD of the specification decodes, and encodes to the same bytes")
    func compressedUpload() throws {
        let body =
            "7801b350305630363135330001530303050305432320e5380a4643603404464360888400006a3f3515"
        let packed = try #require(Hexadecimal.bytes(of: body))
        let bytes = Array("upload 1 1 1224 41 8 3 3\n".utf8) + packed
        let message = try ClientMessage(decoding: bytes, context: .partitionServer)
        let expected = ClientMessage.upload(
            ClientMessage.Upload(
                session: 1,
                progress: UploadCursor(
                    clientVersion: ClientVersion(8),
                    lastIntegratedServerVersion: ServerVersion(3)
                ),
                lockedServerVersion: ServerVersion(3),
                changesets: [
                    UploadChangeset(
                        cursor: UploadCursor(
                            clientVersion: ClientVersion(8),
                            lastIntegratedServerVersion: ServerVersion(3)
                        ),
                        originTimestamp: OriginTimestamp(345_600_000_500),
                        originFileIdent: .none,
                        bytes: [UInt8](repeating: 0x41, count: 1200)
                    )
                ]
            )
        )
        #expect(message == expected)
        #expect(message.encoded() == bytes)
    }

    @Test("A download's numbers are in the right fields")
    func downloadFields() throws {
        let text = "download 1 9 5 10 77 6 3 11 0 32 0\n9 5 345600000000 3 2000 6 \(Self.changeset)"
        let message = try ServerMessage(decoding: Array(text.utf8), context: .partitionClient)
        let expected = ServerMessage.Download(
            session: 1,
            progress: SyncProgress(
                latestServerVersion: SaltedServerVersion(
                    version: ServerVersion(10),
                    salt: Salt(77)
                ),
                download: DownloadCursor(
                    serverVersion: ServerVersion(9),
                    lastIntegratedClientVersion: ClientVersion(5)
                ),
                upload: UploadCursor(
                    clientVersion: ClientVersion(6),
                    lastIntegratedServerVersion: ServerVersion(3)
                )
            ),
            extent: .partition(downloadableBytes: 11),
            changesets: [
                DownloadChangeset(
                    cursor: DownloadCursor(
                        serverVersion: ServerVersion(9),
                        lastIntegratedClientVersion: ClientVersion(5)
                    ),
                    originTimestamp: OriginTimestamp(345_600_000_000),
                    originFileIdent: FileIdent(3),
                    originalSizeInBytes: 2000,
                    bytes: Array(Self.changeset.utf8)
                )
            ]
        )
        #expect(message == .download(expected))
    }

    @Test("An uncompressed body may be announced with any compressed size")
    func ignoredCompressedSize() throws {
        let text = "upload 1 0 27 27 5 0 0\n5 0 345600000000 0 6 \(Self.changeset)"
        let message = try ClientMessage(decoding: Array(text.utf8), context: .partitionServer)
        guard case .upload(let upload) = message else {
            Issue.record("\(message)")
            return
        }
        #expect(upload.changesets.count == 1)
    }
}
