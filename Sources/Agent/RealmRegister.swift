/// What the agent remembers of one realm beside its file (interfaces, 2).
struct RealmRecord: Equatable, Sendable {
    var path: String
    /// Of the file, as 32 hexadecimal digits.
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

/// Keeps what is known of one realm across restarts.
protocol RealmRegister: Sendable {
    func suspension() async throws -> Suspension?
    func keep(_ suspension: Suspension?) async throws
    func record() async throws -> RealmRecord?
    /// Times that are nil leave what is known as it is.
    func keep(_ record: RealmRecord) async throws
    /// When the last refresh began that was carried out, in seconds since 1970; nil if none was.
    func lastRefresh() async throws -> Int64?
    func keepRefresh(at seconds: Int64) async throws
    /// What becomes of the file before it is opened the next time.
    func fileAction() async throws -> FileAction?
    func keepFileAction(_ action: FileAction?) async throws
}

/// One configured realm in the metadata database.
struct MetadataRealmRegister: RealmRegister {
    let database: MetadataDatabase
    let realm: String

    func suspension() async throws -> Suspension? {
        try await database.suspension(of: realm)
    }

    func keep(_ suspension: Suspension?) async throws {
        try await database.keep(suspension, of: realm)
    }

    func record() async throws -> RealmRecord? {
        try await database.record(of: realm)
    }

    func keep(_ record: RealmRecord) async throws {
        try await database.keep(record, of: realm)
    }

    func lastRefresh() async throws -> Int64? {
        try await database.lastRefresh(of: realm)
    }

    func keepRefresh(at seconds: Int64) async throws {
        try await database.keepRefresh(at: seconds, of: realm)
    }

    func fileAction() async throws -> FileAction? {
        try await database.fileAction(of: realm)
    }

    func keepFileAction(_ action: FileAction?) async throws {
        try await database.keepFileAction(action, of: realm)
    }
}
