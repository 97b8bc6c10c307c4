package import SQLite

/// The error of opening, draining or updating a local realm.
package struct LocalRealmError: Error, Sendable {
    package let kind: Kind
    /// The SQLite file concerned.
    package let path: String
    /// One sentence for people.
    package let message: String
    package let cause: SQLiteError?

    package init(_ kind: Kind, path: String, _ message: String, cause: SQLiteError? = nil) {
        self.kind = kind
        self.path = path
        self.message = message
        self.cause = cause
    }

    package enum Kind: String, Sendable, CaseIterable {
        /// Another agent has the file open.
        case locked = "realm.locked"
        case notARealm = "realm.not_a_realm"
        case wrongOwner = "realm.wrong_owner"
        /// The open file is no longer the one of that name: programs write elsewhere.
        case replaced = "realm.file_replaced"
        /// Written by a later version of this program.
        case newerLayout = "realm.newer_layout"
        /// A second file ident for a file that has one.
        case identAlreadySet = "realm.ident_already_set"
        /// The lock was not free within the busy timeout; try again.
        case busy = "realm.busy"
        case diskFull = "realm.disk_full"
        case inputOutput = "realm.io_error"
        case cannotOpen = "realm.cannot_open"
        case corrupt = "realm.corrupt"
        /// A file already exists at the destination of a copy.
        case fileExists = "realm.file_exists"
        /// The server lacks a write of this file.
        case pendingUploads = "realm.pending_uploads"
        case database = "realm.database_error"
        /// The declared schema contradicts the one of the realm.
        case schemaConflict = "schema.conflict"
        /// The application's own table or view occupies a name that a class needs.
        case schemaNameTaken = "schema.name_taken"
        /// Tables or triggers were changed by hand: writes may have been lost.
        case schemaAltered = "schema.altered"
        /// An application's UNIQUE index on a class, which remote rows could violate.
        case schemaUniqueIndex = "schema.unique_index"
        /// A trigger of the application that runs on remote changes refused one.
        case schemaRemoteTrigger = "schema.remote_trigger"
        case badChangeset = "protocol.bad_changeset"
        case badProgress = "protocol.bad_progress"
        /// A message about a subscription set that does not fit its state.
        case badSubscriptions = "protocol.bad_subscriptions"
        case clockBeforeEpoch = "clock.before_epoch"

        /// Whether the same call may succeed later with only space or load changed.
        package var isTransient: Bool {
            switch self {
            case .locked, .busy, .diskFull, .inputOutput, .clockBeforeEpoch: true
            default: false
            }
        }
    }

    /// The stable code for logs, events and documentation (interfaces, 5).
    package var code: String { kind.rawValue }

    /// The error number that reports a failed integration to the server (sync history, 8); nil if
    /// the server's data is not the cause.
    package var integrationFailureCode: Int? {
        switch kind {
        case .badChangeset: 212
        case .badProgress: 233
        case .badSubscriptions: 201
        default: nil
        }
    }

    package var isTransient: Bool { kind.isTransient }

    /// The remedy, as a clause.
    package var remedy: String {
        switch kind {
        case .locked: "stop the other agent, or give this realm another path"
        case .notARealm, .wrongOwner: "give this realm another path, or move the file away"
        case .replaced:
            "nothing, the agent opens the file that is there now; stop it before a file is moved or restored"
        case .newerLayout: "install the version that wrote the file, or a later one"
        case .identAlreadySet: "restart the session"
        case .busy: "end the program that keeps a write transaction open"
        case .diskFull: "free disk space; sync resumes automatically"
        case .inputOutput: "check the disk and the permissions of the directory"
        case .cannotOpen: "check that the directory exists and is writable for the agent"
        case .corrupt: "restore the file from a backup, or move it away to download it again"
        case .fileExists: "give the copy another path, or move the file away"
        case .pendingUploads: "sync the realm first, with `realm-agent sync`"
        case .database: "try again; if it persists, report this message"
        case .schemaConflict:
            "correct the schema file, or leave it out to learn the server's schema"
        case .schemaNameTaken: "rename or drop the application's own table"
        case .schemaAltered: "restore the table and its triggers, or reset the realm"
        case .schemaUniqueIndex: "drop the index; use an ordinary one"
        case .schemaRemoteTrigger: "correct or drop the trigger, or remove it from run_on_remote"
        case .badChangeset, .badProgress, .badSubscriptions:
            "nothing; the server may request a client reset"
        case .clockBeforeEpoch: "set the clock of this machine"
        }
    }
}

extension LocalRealmError: CustomStringConvertible {
    package var description: String { "\(path): error: \(code): \(message); \(remedy)" }
}

extension LocalRealmError {
    init(_ error: SQLiteError, path: String) {
        let kind: Kind =
            switch error.condition {
            case .busy: .busy
            case .diskFull: .diskFull
            case .inputOutput: .inputOutput
            case .cannotOpen, .readOnly: .cannotOpen
            case .notADatabase: .notARealm
            case .corrupt: .corrupt
            case .constraint, .other: .database
            }
        self.init(kind, path: path, error.message, cause: error)
    }
}
