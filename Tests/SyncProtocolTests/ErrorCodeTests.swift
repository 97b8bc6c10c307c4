import Changesets
import FoundationEssentials
import ScriptedPeers
import SyncProtocol
import Testing
import Versions

@Suite("Error codes and their actions")
struct ErrorCodeTests {
    static let rejected = SessionFault.RejectedUpdates(
        clientVersion: ClientVersion(11),
        updates: [RejectedUpdate(className: "Task", key: .int(5), reason: "no")]
    )

    static let sessionFaults: [SessionFault] = [
        .sessionClosed, .otherError, .illegalRealmPath, .permissionDenied, .badClientFileIdent,
        .badServerVersion, .badClientVersion, .divergingHistories, .badChangeset,
        .badOriginFileIdent, .badClientFile, .clientFileExpired, .userMismatch,
        .invalidSchemaChange, .badQuery, .serverPermissionsChanged, .initialSyncNotCompleted,
        .writeNotAllowed(rejected), .compensatingWrite(rejected, undoneAt: ServerVersion(31)),
        .migrateToFlexibleSync(partitionQuery: "x == 1"), .revertToPartitionBasedSync,
        .badSchemaVersion, .schemaVersionChanged(previous: 3),
        .asymmetricWriteNotAllowed(rejected),
    ]

    @Test(
        "Rejected writes: 231 and both forms of 230 have every member that clients require",
        arguments: [
            (
                SessionFault.compensatingWrite(rejected, undoneAt: ServerVersion(31)), "Warning",
                true
            ),
            (.writeNotAllowed(rejected), "ClientReset", false),
            (.asymmetricWriteNotAllowed(rejected), "Warning", true),
        ]
    )
    func rejectedWrites(_ fault: SessionFault, _ action: String, _ tryAgain: Bool) throws {
        struct Body: Decodable {
            struct Update: Decodable {
                let table: String
                let pk: String
                let reason: String
            }
            let message: String
            let logURL: String
            let tryAgain: Bool
            let shouldClientReset: Bool
            let isRecoveryModeDisabled: Bool
            let action: String
            let rejectedUpdates: [Update]
            let rejectedClientVersion: UInt64
            let compensatingWriteServerVersion: UInt64?
        }
        let report = JSONErrorReport(fault, session: 3, message: "no")
        let text = String(decoding: ServerMessage.jsonError(report).encoded(), as: UTF8.self)
        let json = try #require(text.firstIndex(of: "\n").map { text[text.index(after: $0)...] })
        let body = try JSONDecoder().decode(Body.self, from: Data(json.utf8))
        #expect(body.message == "no")
        #expect(body.action == action)
        #expect(body.tryAgain == tryAgain)
        #expect(body.shouldClientReset == (action == "ClientReset"))
        #expect(!body.isRecoveryModeDisabled)
        #expect(body.logURL.isEmpty)
        #expect(body.rejectedClientVersion == 11)
        #expect(body.compensatingWriteServerVersion == (fault.code == 231 ? 31 : nil))
        #expect(body.rejectedUpdates.map(\.table) == ["Task"])
        // A type byte and the number, in the encoding of payloads.
        #expect(body.rejectedUpdates.map(\.pk) == ["AQU="])
        #expect(body.rejectedUpdates.map(\.reason) == ["no"])
    }

    @Test("Every error of our server has a known code of its level that ends no client's process")
    func sendableCodes() throws {
        for fault in Self.sessionFaults {
            let code = try #require(SyncErrorCode(rawValue: fault.code))
            #expect(code.level == .session)
            #expect(!code.endsClientProcess)
        }
        for fault in ConnectionFault.allCases {
            let code = try #require(SyncErrorCode(rawValue: fault.code))
            #expect(code.level == .connection)
            #expect(!code.endsClientProcess)
        }
        // 227 and 233 are not for servers; every other code is either sendable or never sent.
        let sendable = Self.sessionFaults.map(\.code) + ConnectionFault.allCases.map(\.code)
        let rest = SyncErrorCode.allCases.filter { !sendable.contains($0.rawValue) }
        #expect(
            rest.filter { !$0.endsClientProcess } == [.objectAlreadyExists, .badProgress]
        )
    }

    @Test("Each report reads back unchanged, with the action and the flags of the table")
    func roundTrip() throws {
        for fault in Self.sessionFaults {
            let report = JSONErrorReport(
                fault,
                session: 3,
                message: "zürich \"\\\n\u{1}",
                backoff: JSONErrorBody.Backoff(
                    initialInSeconds: 2,
                    maximumInSeconds: 300,
                    multiplier: 2
                )
            )
            let message = ServerMessage.jsonError(report)
            let decoded = try ServerMessage(decoding: message.encoded(), context: .partitionClient)
            #expect(decoded == message)
            // Neither pairing is meaningful to a client.
            #expect(report.body.action != .transient || report.body.tryAgain)
            #expect(!report.body.action.isClientReset || !report.body.tryAgain)
        }
        for fault in ConnectionFault.allCases {
            let message = ServerMessage.jsonError(JSONErrorReport(fault, message: "m"))
            let decoded = try ServerMessage(decoding: message.encoded(), context: .partitionClient)
            #expect(decoded == message)
        }
    }

    /// The six that clients read without a default (wire protocol, 7.1).
    private struct MandatoryKeys: Decodable {
        let message: String
        let logURL: String
        let tryAgain: Bool
        let shouldClientReset: Bool
        let isRecoveryModeDisabled: Bool
        let action: String
    }

    @Test("Every report holds the six mandatory keys with their types, and back-off whole or not")
    func mandatoryKeys() throws {
        var reports = ConnectionFault.allCases.map { JSONErrorReport($0, message: "m") }
        let backoff = JSONErrorBody.Backoff(
            initialInSeconds: 2,
            maximumInSeconds: 300,
            multiplier: 2
        )
        for fault in Self.sessionFaults {
            for allowsRecovery in [true, false] {
                for backoff in [backoff, nil] {
                    reports.append(
                        JSONErrorReport(
                            fault,
                            session: 1,
                            message: "m",
                            backoff: backoff,
                            allowsRecovery: allowsRecovery
                        )
                    )
                }
            }
        }
        for report in reports {
            let bytes = ServerMessage.jsonError(report).encoded()
            let head = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
            #expect(bytes.starts(with: Array("json_error ".utf8)))
            let body = Data(bytes[(head + 1)...])
            let keys = try JSONDecoder().decode(MandatoryKeys.self, from: body)
            #expect(ServerAction.allCases.contains { $0.rawValue == keys.action })
            #expect(keys.shouldClientReset == keys.action.hasPrefix("ClientReset"))
            #expect(keys.action != "Transient" || keys.tryAgain)
            #expect(!keys.shouldClientReset || !keys.tryAgain)
            let names = String(decoding: body, as: UTF8.self).ranges(of: "\"backoff").count
            #expect(names == 0 || names == 3)
        }
    }

    @Test("Without recovery every error says so, and a reset does not keep writes")
    func withoutRecovery() {
        let report = JSONErrorReport(
            .divergingHistories,
            session: 1,
            message: "m",
            allowsRecovery: false
        )
        #expect(report.body.action == .clientResetNoRecovery)
        #expect(report.body.isRecoveryModeDisabled)
        #expect(report.body.shouldClientReset)
        let other = JSONErrorReport(.sessionClosed, session: 1, message: "m", allowsRecovery: false)
        #expect(other.body.action == .transient)
        #expect(other.body.isRecoveryModeDisabled)
        let connection = JSONErrorReport(.badSyntax, message: "m", allowsRecovery: false)
        #expect(connection.body.isRecoveryModeDisabled)
    }

    @Test("Unknown and empty actions count as a bug of the application")
    func actions() {
        #expect(ServerAction(name: "") == .applicationBug)
        #expect(ServerAction(name: "clientReset") == .applicationBug)
        for action in ServerAction.allCases {
            #expect(ServerAction(name: action.rawValue) == action)
        }
    }

    @Test("Names of codes are those of the specification")
    func names() {
        #expect(SyncErrorCode.badClientFileIdent.name == "bad_client_file_ident")
        #expect(SyncErrorCode.reuseOfSessionIdent.name == "reuse_of_session_ident")
    }

    @Test(
        "Keys of rejected writes have the base64 form of the specification",
        arguments: [
            (ObjectKey.null, "AA=="), (.int(5), "AQU="), (.string("abc"), "AwNhYmM="),
            (
                ObjectID("6503f2864af8894aa04db0e4").map { .objectID($0) } ?? .null,
                "CmUD8oZK+IlKoE2w5A=="
            ),
            (
                UniqueID("00010203-0405-0607-0809-0a0b0c0d0e0f").map { .uuid($0) } ?? .null,
                "CwABAgMEBQYHCAkKCwwNDg8="
            ),
        ]
    )
    func rejectedKeys(key: ObjectKey, text: String) {
        let update = RejectedUpdate(className: "T", key: key, reason: "")
        #expect(update.encodedKey == text)
        #expect(update.key == key)
    }
}
