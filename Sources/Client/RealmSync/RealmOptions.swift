public import ClientReset
package import SchemaFiles
package import Schemas
public import Scopes
import Settings
public import Subscriptions

/// The settings of a local realm: the data that it holds, and its sync.
public struct RealmOptions: Sendable {
    /// The realm's name in logs and records; unique within one ``SyncApp``.
    public var name: String
    /// The path of the SQLite file; its directory is created if it is missing.
    public var path: String {
        get { location.path }
        set { location = RealmLocation(newValue) }
    }
    /// The path, which may depend on the user.
    package var location: RealmLocation
    /// The realm's scope, given the user's id.
    public var scope: @Sendable (_ userID: String) throws(UnusableScope) -> SyncScope
    /// Whether the scope is ``SyncScope/subscriptions``; known before the user is.
    public let isFlexible: Bool
    /// The subscriptions of a new file of flexible sync.
    public var initialSubscriptions: [SubscriptionContent] = []
    /// Whether the initial subscriptions are also put into the set when the realm is opened for the first
    /// time in a process. Those with names replace what has their name.
    public var rerunsInitialSubscriptions = false
    /// The subscriptions that the realm's set must have beside others; nil if none are declared.
    package var declaredSubscriptions: DeclaredSubscriptionSource?
    /// The classes and properties; nil to learn them from the server.
    public var schema: DeclaredSchema?
    /// Whether programs on this machine may only read the realm: SQLite refuses their writes.
    public var isReadOnly = false
    /// Integer properties of classes learned from the server whose changes are sent as increments.
    package var learnedCounters: Set<PropertyName> = []
    /// Whether a link to an object that does not exist is undone and reported instead of uploaded.
    public var requiresLinkTargets = false
    /// Names of the application's triggers on classes that also run on changes of the server.
    public var triggersOnRemoteChanges: [String] = []
    /// The path of a copy of the realm to start from instead of a download; nil for none.
    public var seed: String?
    public var open = OpenOptions()
    public var capture = CaptureOptions()
    public var reset = ResetOptions()
    /// Maximum delay of ``SyncedRealm/finish()`` for uploads.
    public var shutdownUploadTimeout = Duration.seconds(5)

    /// A realm of one partition.
    public init(name: String, path: String, partition: Partition) {
        self.init(name: name, path: path) { _ in .partition(partition) }
    }

    /// A realm of flexible sync: it holds the objects that its subscriptions select.
    ///
    /// - Parameter subscriptions: the set of a new file; ``SyncedRealm/updateSubscriptions(_:isForced:isChecked:)``
    ///   changes it.
    public init(name: String, path: String, subscriptions: [SubscriptionContent]) {
        self.init(name: name, path: path, isFlexible: true) { _ in .subscriptions }
        initialSubscriptions = subscriptions
    }

    /// A realm whose scope depends on its user.
    ///
    /// - Parameter isFlexible: whether the scope is ``SyncScope/subscriptions``, for every user.
    public init(
        name: String,
        path: String,
        isFlexible: Bool = false,
        scope: @escaping @Sendable (_ userID: String) throws(UnusableScope) -> SyncScope
    ) {
        self.name = name
        self.location = RealmLocation(path)
        self.isFlexible = isFlexible
        self.scope = scope
    }
}

/// Declared subscriptions, given the user's id.
package typealias DeclaredSubscriptionSource =
    @Sendable (_ userID: String) -> [SubscriptionContent]

/// The part of an app's data that a realm holds.
public typealias SyncScope = Scopes.SyncScope
/// The value that selects one of an app's partitions.
public typealias Partition = Scopes.Partition

/// The realm's scope cannot be derived from the user's id.
public struct UnusableScope: Error, Hashable, Sendable {
    /// A sentence for people.
    public let reason: String

    public init(reason: String) {
        self.reason = reason
    }
}

/// The classes and properties of a realm.
public struct DeclaredSchema: Sendable {
    package let declaration: SchemaDeclaration

    package init(_ declaration: SchemaDeclaration) {
        self.declaration = declaration
    }

    /// Parses the text of a schema file.
    ///
    /// - Parameters:
    ///   - yaml: such as `classes: { Note: { primary_key: _id, properties: { _id: int } } }`.
    ///   - file: the file name in error messages.
    /// - Throws: all mistakes of the text, with line and column.
    public init(yaml: String, file: String = "schema") throws(UnusableSchema) {
        let parsed = SchemaFile.parse(Array(yaml.utf8), file: file)
        guard let declaration = parsed.declaration else {
            throw UnusableSchema(problems: parsed.diagnostics.map(\.description))
        }
        self.init(declaration)
    }
}

/// The mistakes of a schema text.
public struct UnusableSchema: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for each mistake, with file, line and column.
    public let problems: [String]

    public var description: String { problems.joined(separator: "\n") }
}

/// The downloads that a realm requires before it counts as open (features, O4 to O14).
public struct OpenOptions: Hashable, Sendable {
    /// The download to complete before the realm counts as open.
    public enum Download: Hashable, Sendable {
        /// None: the realm is open at once.
        case never
        /// The first complete download; none at later starts.
        case once
        /// A complete download at each start.
        case always
        /// As ``always``; but earlier complete data suffices if the server cannot be reached, or
        /// ``OpenOptions/timeout`` passes.
        case auto
    }

    public var download: Download
    /// Limit on the download, after which the realm is ``RealmPhase/failed``; nil for no limit.
    public var timeout: Duration?

    public init(download: Download = .never, timeout: Duration? = nil) {
        self.download = download
        self.timeout = timeout
    }
}

/// Capture of local writes as changesets (local realm, 4.2 and 6).
public struct CaptureOptions: Hashable, Sendable {
    /// Time during which successive writes are gathered into one upload.
    public var delay: Duration
    /// Writes that are further apart belong to different changesets.
    public var splitGap: Duration

    public init(delay: Duration = .milliseconds(20), splitGap: Duration = .seconds(10)) {
        self.delay = delay
        self.splitGap = splitGap
    }
}

/// Treatment of unsynced changes in a client reset (client reset, 3).
public typealias ResetMode = ClientReset.ResetMode

/// Settings of client resets, which happen when the server no longer knows the realm's history.
public struct ResetOptions: Hashable, Sendable {
    /// The treatment of unsynced changes.
    public var mode: ResetMode
    /// Directory for copies and discarded changes; nil for the app's own.
    public var recoveryDirectory: String?
    /// Whether discarded changes are first exported to a file.
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
