/// The record of one realm beside its file (interfaces, 2).
package struct RealmRecord: Equatable, Sendable {
    var path: String
    /// The file's id, as 32 hexadecimal digits.
    var instance: String
    var home: String
    var appID: String
    var userID: String
    /// Canonical Extended JSON.
    var partition: String
    var localVersion: UInt64
    var isFirstDownloadFinished: Bool
    /// Milliseconds since 1970; nil if it never happened.
    var lastConnected: Int64?
    var lastUploaded: Int64?
    var lastDownloaded: Int64?
}

/// Keeps the record of one realm across restarts.
package protocol RealmRegister: Sendable {
    func suspension() async throws -> Suspension?
    func keep(_ suspension: Suspension?) async throws
    func record() async throws -> RealmRecord?
    /// Times that are nil keep their stored value.
    func keep(_ record: RealmRecord) async throws
    /// The action that is due before the file is opened the next time.
    func fileAction() async throws -> FileAction?
    func keepFileAction(_ action: FileAction?) async throws
}

/// One realm in the metadata database.
package struct MetadataRealmRegister: RealmRegister {
    let database: MetadataDatabase
    let realm: String

    package init(database: MetadataDatabase, realm: String) {
        self.database = database
        self.realm = realm
    }

    package func suspension() async throws -> Suspension? {
        try await database.suspension(of: realm)
    }

    package func keep(_ suspension: Suspension?) async throws {
        try await database.keep(suspension, of: realm)
    }

    package func record() async throws -> RealmRecord? {
        try await database.record(of: realm)
    }

    package func keep(_ record: RealmRecord) async throws {
        try await database.keep(record, of: realm)
    }

    package func fileAction() async throws -> FileAction? {
        try await database.fileAction(of: realm)
    }

    package func keepFileAction(_ action: FileAction?) async throws {
        try await database.keepFileAction(action, of: realm)
    }
}
