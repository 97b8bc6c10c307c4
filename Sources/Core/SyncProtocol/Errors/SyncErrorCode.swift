/// The error codes of the protocol; any other number is an unknown code (wire protocol, 8).
package enum SyncErrorCode: Int, Hashable, Sendable, CaseIterable {
    case connectionClosed = 100
    case otherError = 101
    case unknownMessage = 102
    case badSyntax = 103
    case limitsExceeded = 104
    case wrongProtocolVersion = 105
    case badSessionIdent = 106
    case reuseOfSessionIdent = 107
    case boundInOtherSession = 108
    case badMessageOrder = 109
    case badDecompression = 110
    case badChangesetHeaderSyntax = 111
    case badChangesetSize = 112
    case switchToFlexibleSync = 113
    case switchToPartitionBasedSync = 114

    case sessionClosed = 200
    case otherSessionError = 201
    case tokenExpired = 202
    case badAuthentication = 203
    case illegalRealmPath = 204
    case noSuchRealm = 205
    case permissionDenied = 206
    case badServerFileIdent = 207
    case badClientFileIdent = 208
    case badServerVersion = 209
    case badClientVersion = 210
    case divergingHistories = 211
    case badChangeset = 212
    case partialSyncDisabled = 214
    case unsupportedSessionFeature = 215
    case badOriginFileIdent = 216
    case badClientFile = 217
    case serverFileDeleted = 218
    case clientFileBlacklisted = 219
    case userBlacklisted = 220
    case transactBeforeUpload = 221
    case clientFileExpired = 222
    case userMismatch = 223
    case tooManySessions = 224
    case invalidSchemaChange = 225
    case badQuery = 226
    case objectAlreadyExists = 227
    case serverPermissionsChanged = 228
    case initialSyncNotCompleted = 229
    case writeNotAllowed = 230
    case compensatingWrite = 231
    case migrateToFlexibleSync = 232
    case badProgress = 233
    case revertToPartitionBasedSync = 234
    case badSchemaVersion = 235
    case schemaVersionChanged = 236

    package enum Level: Hashable, Sendable {
        case connection, session
    }

    package var level: Level {
        rawValue < Self.sessionClosed.rawValue ? .connection : .session
    }

    /// Released clients end their process when they receive one of these, at either level: no
    /// server may send them. `SessionFault` and `ConnectionFault` have no case for them.
    package var endsClientProcess: Bool {
        switch self {
        case .limitsExceeded, .tokenExpired, .badAuthentication, .noSuchRealm, .badServerFileIdent,
            .partialSyncDisabled, .unsupportedSessionFeature, .serverFileDeleted,
            .clientFileBlacklisted, .userBlacklisted, .transactBeforeUpload, .tooManySessions:
            true
        default:
            false
        }
    }

    /// The status that the SDKs report for the code; where they end the process, the nearest in
    /// meaning.
    package var status: SyncStatus {
        switch self {
        case .connectionClosed, .sessionClosed, .initialSyncNotCompleted: .connectionClosed
        case .otherError, .badDecompression, .otherSessionError: .runtimeError
        case .unknownMessage, .badSyntax, .wrongProtocolVersion, .badSessionIdent,
            .reuseOfSessionIdent, .boundInOtherSession, .badMessageOrder,
            .badChangesetHeaderSyntax, .badChangesetSize, .badOriginFileIdent, .badProgress:
            .syncProtocolInvariantFailed
        case .limitsExceeded, .tooManySessions: .limitExceeded
        case .switchToFlexibleSync, .switchToPartitionBasedSync, .migrateToFlexibleSync,
            .revertToPartitionBasedSync:
            .wrongSyncType
        case .tokenExpired, .badAuthentication, .userBlacklisted: .authError
        case .illegalRealmPath: .badSyncPartitionValue
        case .permissionDenied: .syncPermissionDenied
        case .badClientFileIdent, .badServerVersion, .badClientVersion, .divergingHistories,
            .badClientFile, .clientFileExpired:
            .syncClientResetRequired
        case .badChangeset: .badChangeset
        case .userMismatch: .syncUserMismatch
        case .invalidSchemaChange: .invalidSchemaChange
        case .badQuery: .invalidSubscriptionQuery
        case .objectAlreadyExists: .objectAlreadyExists
        case .serverPermissionsChanged: .syncServerPermissionsChanged
        case .writeNotAllowed: .syncWriteNotAllowed
        case .compensatingWrite: .syncCompensatingWrite
        case .badSchemaVersion, .schemaVersionChanged: .syncSchemaMigrationError
        case .noSuchRealm, .badServerFileIdent, .partialSyncDisabled, .unsupportedSessionFeature,
            .serverFileDeleted, .clientFileBlacklisted, .transactBeforeUpload:
            .unknownError
        }
    }

    /// The code's name in the specification, for logs.
    package var name: String {
        var name = ""
        for character in "\(self)" {
            if character.isUppercase { name.append("_") }
            name += character.lowercased()
        }
        return name
    }
}
