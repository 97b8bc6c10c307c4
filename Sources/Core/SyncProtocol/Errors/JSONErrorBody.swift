package import Versions

/// The JSON object of a server's JSON_ERROR (wire protocol, 7).
///
/// It keeps its original text, so that a received body is written unchanged.
package struct JSONErrorBody: Hashable, Sendable {
    package let message: String
    package let logURL: String
    /// False: the session, or the connection, is not resumed automatically.
    package let tryAgain: Bool
    /// For clients that do not support actions.
    package let shouldClientReset: Bool
    package let isRecoveryModeDisabled: Bool
    package let action: ServerAction
    package let backoff: Backoff?
    package let details: Details?
    let encoded: [UInt8]

    /// Delays that replace the client's own for this error.
    package struct Backoff: Hashable, Sendable {
        package let initialInSeconds: UInt32
        package let maximumInSeconds: UInt32
        package let multiplier: UInt32

        package init(initialInSeconds: UInt32, maximumInSeconds: UInt32, multiplier: UInt32) {
            self.initialInSeconds = initialInSeconds
            self.maximumInSeconds = maximumInSeconds
            self.multiplier = multiplier
        }
    }

    /// The additional data of some codes.
    package enum Details: Hashable, Sendable {
        case rejected(SessionFault.RejectedUpdates)
        case compensated(SessionFault.RejectedUpdates, undoneAt: ServerVersion)
        case migration(partitionQuery: String)
        case previousSchemaVersion(UInt64)

        init?(_ fault: SessionFault) {
            switch fault {
            case .writeNotAllowed(let rejected), .asymmetricWriteNotAllowed(let rejected):
                self = .rejected(rejected)
            case .compensatingWrite(let rejected, let version):
                self = .compensated(rejected, undoneAt: version)
            case .migrateToFlexibleSync(let query): self = .migration(partitionQuery: query)
            case .schemaVersionChanged(let previous): self = .previousSchemaVersion(previous)
            default: return nil
            }
        }
    }
}

// MARK: Writing

extension JSONErrorBody {
    init(
        message: String,
        tryAgain: Bool,
        action: ServerAction,
        isRecoveryModeDisabled: Bool = false,
        backoff: Backoff? = nil,
        details: Details? = nil
    ) {
        self.message = message
        self.logURL = ""
        self.tryAgain = tryAgain
        self.shouldClientReset = action.isClientReset
        self.isRecoveryModeDisabled = isRecoveryModeDisabled
        self.action = action
        self.backoff = backoff
        self.details = details

        var text = JSONObjectBuilder()
        // All six are required for every error: a client closes the connection over a missing one.
        text.write(Key.message.rawValue, message)
        text.write(Key.isRecoveryModeDisabled.rawValue, isRecoveryModeDisabled)
        text.write(Key.tryAgain.rawValue, tryAgain)
        text.write(Key.logURL.rawValue, "")
        text.write(Key.shouldClientReset.rawValue, action.isClientReset)
        text.write(Key.action.rawValue, action.rawValue)
        if let backoff {
            text.write(Key.backoffIntervalSec.rawValue, backoff.initialInSeconds)
            text.write(Key.backoffMaxDelaySec.rawValue, backoff.maximumInSeconds)
            text.write(Key.backoffMultiplier.rawValue, backoff.multiplier)
        }
        details?.write(to: &text)
        self.encoded = text.bytes
    }
}

extension JSONErrorBody.Details {
    fileprivate func write(to text: inout JSONObjectBuilder) {
        typealias Key = JSONErrorBody.Key
        switch self {
        case .rejected(let rejected):
            Self.write(rejected, to: &text)
        case .compensated(let rejected, let version):
            text.write(Key.compensatingWriteServerVersion.rawValue, version.rawValue)
            Self.write(rejected, to: &text)
        case .migration(let query):
            text.write(Key.partitionQuery.rawValue, query)
        case .previousSchemaVersion(let version):
            text.write(Key.previousSchemaVersion.rawValue, version)
        }
    }

    private static func write(
        _ rejected: SessionFault.RejectedUpdates,
        to text: inout JSONObjectBuilder
    ) {
        typealias Key = JSONErrorBody.Key
        text.write(Key.rejectedClientVersion.rawValue, rejected.clientVersion.rawValue)
        text.write(
            Key.rejectedUpdates.rawValue,
            rejected.updates.map { update in
                var member = JSONObjectBuilder()
                member.write("table", update.className)
                member.write("pk", update.encodedKey)
                member.write("reason", update.reason)
                return member
            }
        )
    }
}

// MARK: Reading

extension JSONErrorBody {
    fileprivate enum Key: String, CodingKey {
        case message, logURL, tryAgain, shouldClientReset, isRecoveryModeDisabled, action
        case backoffIntervalSec, backoffMaxDelaySec, backoffMultiplier
        case partitionQuery, previousSchemaVersion
        case rejectedUpdates, rejectedClientVersion, compensatingWriteServerVersion
    }

    init(decoding body: [UInt8], code: Int, at offset: Int) throws(WireError) {
        let members = try JSONObjectBuilder.decode(Members.self, from: body, at: offset)
        self.message = members.message
        self.logURL = members.logURL
        self.tryAgain = members.tryAgain
        self.shouldClientReset = members.shouldClientReset
        self.isRecoveryModeDisabled = members.isRecoveryModeDisabled
        self.action = ServerAction(name: members.action)
        self.backoff = members.backoff
        do {
            self.details = try members.details(for: SyncErrorCode(rawValue: code))
        } catch {
            throw WireError(at: offset, .json(error.description))
        }
        self.encoded = body
    }

    private struct MissingMember: Error, CustomStringConvertible {
        let key: Key
        var description: String { "no member \"\(key.rawValue)\", which this code needs" }
    }

    private struct Members: Decodable {
        let message: String
        let logURL: String
        let tryAgain: Bool
        let shouldClientReset: Bool
        let isRecoveryModeDisabled: Bool
        let action: String
        let backoff: Backoff?
        let partitionQuery: String?
        let previousSchemaVersion: UInt64?
        let rejected: SessionFault.RejectedUpdates?
        let compensatingWriteServerVersion: ServerVersion?

        private struct Update: Decodable {
            let table: String
            let pk: String
            let reason: String
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            message = try members.decode(String.self, forKey: .message)
            logURL = try members.decode(String.self, forKey: .logURL)
            tryAgain = try members.decode(Bool.self, forKey: .tryAgain)
            shouldClientReset = try members.decode(Bool.self, forKey: .shouldClientReset)
            isRecoveryModeDisabled = try members.decode(Bool.self, forKey: .isRecoveryModeDisabled)
            action = try members.decode(String.self, forKey: .action)
            // The three come together or not at all.
            backoff =
                members.contains(.backoffIntervalSec)
                ? Backoff(
                    initialInSeconds: try members.decode(UInt32.self, forKey: .backoffIntervalSec),
                    maximumInSeconds: try members.decode(UInt32.self, forKey: .backoffMaxDelaySec),
                    multiplier: try members.decode(UInt32.self, forKey: .backoffMultiplier)
                )
                : nil
            partitionQuery = try members.decodeIfPresent(String.self, forKey: .partitionQuery)
            previousSchemaVersion = try members.decodeIfPresent(
                UInt64.self,
                forKey: .previousSchemaVersion
            )
            rejected =
                members.contains(.rejectedUpdates)
                ? SessionFault.RejectedUpdates(
                    clientVersion: ClientVersion(
                        try members.decode(UInt64.self, forKey: .rejectedClientVersion)
                    ),
                    updates: try members.decode([Update].self, forKey: .rejectedUpdates).map {
                        RejectedUpdate(className: $0.table, encodedKey: $0.pk, reason: $0.reason)
                    }
                )
                : nil
            compensatingWriteServerVersion = try members.decodeIfPresent(
                UInt64.self,
                forKey: .compensatingWriteServerVersion
            ).map { ServerVersion($0) }
        }

        func details(for code: SyncErrorCode?) throws(MissingMember) -> Details? {
            switch code {
            case .compensatingWrite:
                guard let rejected else { throw MissingMember(key: .rejectedUpdates) }
                guard let version = compensatingWriteServerVersion else {
                    throw MissingMember(key: .compensatingWriteServerVersion)
                }
                return .compensated(rejected, undoneAt: version)
            case .migrateToFlexibleSync:
                guard let partitionQuery, !partitionQuery.isEmpty else {
                    throw MissingMember(key: .partitionQuery)
                }
                return .migration(partitionQuery: partitionQuery)
            case .schemaVersionChanged:
                guard let previousSchemaVersion else {
                    throw MissingMember(key: .previousSchemaVersion)
                }
                return .previousSchemaVersion(previousSchemaVersion)
            default:
                return rejected.map { .rejected($0) }
            }
        }
    }
}
