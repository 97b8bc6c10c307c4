public import ClientReset
package import SchemaFiles
import Schemas
public import Scopes
import Settings

/// A local realm: which part of an app's data it holds, and how it is kept in sync.
public struct RealmOptions: Sendable {
    /// Names the realm in logs and in the register; unique within one ``SyncApp``.
    public var name: String
    /// The SQLite file; its directory is created if it is missing.
    public var path: String
    /// What the realm holds, given the user's id.
    public var scope: @Sendable (_ userID: String) throws(UnusableScope) -> SyncScope
    /// Nil to learn the classes from the server.
    public var schema: DeclaredSchema?
    /// A file to begin with instead of a download; nil for none.
    public var seed: String?
    public var open = OpenOptions()
    public var capture = CaptureOptions()
    public var reset = ResetOptions()
    /// How long uploads may delay ``SyncedRealm/finish()``.
    public var shutdownUploadTimeout = Duration.seconds(5)

    /// A realm of one partition.
    public init(name: String, path: String, partition: Partition) {
        self.init(name: name, path: path) { _ in .partition(partition) }
    }

    /// A realm whose scope depends on its user.
    public init(
        name: String,
        path: String,
        scope: @escaping @Sendable (_ userID: String) throws(UnusableScope) -> SyncScope
    ) {
        self.name = name
        self.path = path
        self.scope = scope
    }
}

/// Which part of an app's data a realm holds.
public typealias SyncScope = Scopes.SyncScope
/// The value that selects one of an app's partitions.
public typealias Partition = Scopes.Partition

/// The user's id does not give the realm a scope.
public struct UnusableScope: Error, Hashable, Sendable {
    /// For people.
    public let reason: String

    public init(reason: String) {
        self.reason = reason
    }
}

/// Classes and properties, as a schema file declares them.
public struct DeclaredSchema: Sendable {
    package let declaration: SchemaDeclaration

    package init(_ declaration: SchemaDeclaration) {
        self.declaration = declaration
    }

    /// Reads a schema as a schema file has it.
    ///
    /// - Parameters:
    ///   - yaml: such as `classes: { Note: { primary_key: _id, properties: { _id: int } } }`.
    ///   - file: what errors call it.
    /// - Throws: every mistake, with line and column.
    public init(yaml: String, file: String = "schema") throws(UnusableSchema) {
        let parsed = SchemaFile.parse(Array(yaml.utf8), file: file)
        guard let declaration = parsed.declaration else {
            throw UnusableSchema(problems: parsed.diagnostics.map(\.description))
        }
        self.init(declaration)
    }
}

/// A text is not a schema.
public struct UnusableSchema: Error, Hashable, Sendable, CustomStringConvertible {
    /// For people, each with file, line and column.
    public let problems: [String]

    public var description: String { problems.joined(separator: "\n") }
}

/// What a realm waits for before it counts as open (features, O4 to O14).
public struct OpenOptions: Hashable, Sendable {
    public enum Download: Hashable, Sendable {
        case never
        /// Everything, the first time.
        case once
        case always
        /// As `always`, but what is here will do if the download cannot be had.
        case auto
    }

    public var download: Download
    /// How long it waits; nil for as long as it takes.
    public var timeout: Duration?

    public init(download: Download = .never, timeout: Duration? = nil) {
        self.download = download
        self.timeout = timeout
    }
}

/// When local writes become changesets (local realm, 4.2 and 6).
public struct CaptureOptions: Hashable, Sendable {
    /// How long writes that follow each other closely are gathered.
    public var delay: Duration
    /// Writes further apart than this belong to different changesets.
    public var splitGap: Duration

    public init(delay: Duration = .milliseconds(20), splitGap: Duration = .seconds(10)) {
        self.delay = delay
        self.splitGap = splitGap
    }
}

/// What a client reset does with unsynced changes (client reset, 3).
public typealias ResetMode = ClientReset.ResetMode

/// What happens when the server no longer knows the realm's history.
public struct ResetOptions: Hashable, Sendable {
    public var mode: ResetMode
    /// Where copies and discarded changes go; nil for the app's own directory.
    public var recoveryDirectory: String?
    /// Whether discarded changes are written to a file first.
    public var exportsDiscarded: Bool

    public init(
        mode: ResetMode = .recover,
        recoveryDirectory: String? = nil,
        exportsDiscarded: Bool = true
    ) {
        self.mode = mode
        self.recoveryDirectory = recoveryDirectory
        self.exportsDiscarded = exportsDiscarded
    }
}
