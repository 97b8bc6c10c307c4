package import Changesets
package import Versions

/// A server's error about one session (wire protocol, 8).
package enum SessionFault: Error, Hashable, Sendable {
    /// The client binds again after exactly one second.
    case sessionClosed
    case otherError
    case illegalRealmPath
    case permissionDenied
    case badClientFileIdent
    case badServerVersion
    case badClientVersion
    case divergingHistories
    case badChangeset
    case badOriginFileIdent
    case badClientFile
    case clientFileExpired
    case userMismatch
    case invalidSchemaChange
    case badQuery
    /// A QUERY whose version is not newer than the last one.
    case badQueryVersion
    /// Only for clients below version 14.
    case serverPermissionsChanged
    case initialSyncNotCompleted
    /// For clients below version 5.
    case writeNotAllowed(RejectedUpdates)
    /// A reset, as of the other, would make the client upload the same objects again.
    case asymmetricWriteNotAllowed(RejectedUpdates)
    /// Does not end the session; from version 5 on.
    case compensatingWrite(RejectedUpdates, undoneAt: ServerVersion)
    /// From version 9 on.
    case migrateToFlexibleSync(partitionQuery: String)
    case revertToPartitionBasedSync
    /// From version 11 on.
    case badSchemaVersion
    /// Does not end the session; from version 11 on.
    case schemaVersionChanged(previous: UInt64)

    /// The writes that a server rejected, and their client version.
    package struct RejectedUpdates: Hashable, Sendable {
        package let clientVersion: ClientVersion
        package let updates: [RejectedUpdate]

        package init(clientVersion: ClientVersion, updates: [RejectedUpdate]) {
            self.clientVersion = clientVersion
            self.updates = updates
        }
    }

    package var code: Int { knownCode.rawValue }

    private var knownCode: SyncErrorCode {
        switch self {
        case .sessionClosed: .sessionClosed
        case .otherError, .badQueryVersion: .otherSessionError
        case .illegalRealmPath: .illegalRealmPath
        case .permissionDenied: .permissionDenied
        case .badClientFileIdent: .badClientFileIdent
        case .badServerVersion: .badServerVersion
        case .badClientVersion: .badClientVersion
        case .divergingHistories: .divergingHistories
        case .badChangeset: .badChangeset
        case .badOriginFileIdent: .badOriginFileIdent
        case .badClientFile: .badClientFile
        case .clientFileExpired: .clientFileExpired
        case .userMismatch: .userMismatch
        case .invalidSchemaChange: .invalidSchemaChange
        case .badQuery: .badQuery
        case .serverPermissionsChanged: .serverPermissionsChanged
        case .initialSyncNotCompleted: .initialSyncNotCompleted
        case .writeNotAllowed, .asymmetricWriteNotAllowed: .writeNotAllowed
        case .compensatingWrite: .compensatingWrite
        case .migrateToFlexibleSync: .migrateToFlexibleSync
        case .revertToPartitionBasedSync: .revertToPartitionBasedSync
        case .badSchemaVersion: .badSchemaVersion
        case .schemaVersionChanged: .schemaVersionChanged
        }
    }

    var action: ServerAction {
        switch self {
        case .sessionClosed, .otherError, .initialSyncNotCompleted: .transient
        case .illegalRealmPath, .invalidSchemaChange, .badQuery, .badQueryVersion,
            .badSchemaVersion:
            .applicationBug
        case .permissionDenied, .userMismatch: .deleteRealm
        case .badClientFileIdent, .badServerVersion, .badClientVersion, .divergingHistories,
            .badChangeset, .badClientFile, .clientFileExpired, .serverPermissionsChanged,
            .writeNotAllowed:
            .clientReset
        case .badOriginFileIdent: .protocolViolation
        case .compensatingWrite, .asymmetricWriteNotAllowed: .warning
        case .migrateToFlexibleSync: .migrateToFlexibleSync
        case .revertToPartitionBasedSync: .revertToPartitionBasedSync
        case .schemaVersionChanged: .migrateSchema
        }
    }

    /// Whether the client resumes the session automatically.
    var tryAgain: Bool {
        switch action {
        // A `Transient` without another try would suspend the session forever.
        case .transient, .warning: true
        case .applicationBug, .protocolViolation, .deleteRealm, .clientReset,
            .clientResetNoRecovery, .migrateToFlexibleSync, .revertToPartitionBasedSync,
            .migrateSchema, .refreshUser, .refreshLocation, .logOutUser:
            false
        }
    }

    /// Whether the session is over after this error.
    package var endsSession: Bool {
        switch self {
        case .compensatingWrite, .schemaVersionChanged: false
        default: true
        }
    }
}

/// One write that a server rejected (wire protocol, 7.2).
package struct RejectedUpdate: Hashable, Sendable {
    package let className: String
    /// The object's primary key as in the message: base64 of a type byte and the value.
    package let encodedKey: String
    package let reason: String

    package init(className: String, key: ObjectKey, reason: String) {
        self.className = className
        self.encodedKey = String(decoding: Base64.encode(key.typedBytes), as: UTF8.self)
        self.reason = reason
    }

    package init(className: String, encodedKey: String, reason: String) {
        self.className = className
        self.encodedKey = encodedKey
        self.reason = reason
    }

    /// Nil if the server sent an invalid primary key.
    package var key: ObjectKey? {
        Base64.decode(Array(encodedKey.utf8)).flatMap { ObjectKey(typedBytes: $0) }
    }
}
