public import Subscriptions

/// An event of a realm, from ``SyncedRealm/events()``.
public enum RealmEvent: Sendable, Equatable {
    /// The phase or its cause has changed.
    case activity(RealmActivity)
    case error(RealmError)
    /// Local writes that were rejected; each row has its previous value again.
    case rejected([RealmRejection])
    /// The state of a subscription set has changed.
    case subscriptions(SubscriptionChange)
    /// The server has acknowledged this number of local changesets. `after` has the time from capture
    /// to acknowledgement, for those that were measured.
    case uploaded(changesets: Int, after: [Duration])
    /// Changes of other clients were integrated into the file, in one transaction of this duration.
    case changed(changesets: Int, duration: Duration, localVersion: UInt64)
    case reset(ResetEvent)
}

/// A realm's phase, and the reason for it.
public struct RealmActivity: Sendable, Equatable {
    public var phase: RealmPhase
    public var cause: RealmCause?
    /// A sentence for people about the cause, with a remedy if there is one.
    public var detail: String?

    package init(_ phase: RealmPhase, _ cause: RealmCause? = nil, _ detail: String? = nil) {
        self.phase = phase
        self.cause = cause
        self.detail = detail
    }
}

/// One rejected local write.
public struct RealmRejection: Sendable, Equatable {
    /// The side that rejected the write.
    public enum Side: Sendable {
        /// The value cannot be sent.
        case local
        /// The server undid the write.
        case server
    }

    public let side: Side
    public let className: String
    /// The primary key as text.
    public let key: String
    /// Nil if the write concerns the whole object, or the server rejected it.
    public let property: String?
    /// A sentence for people.
    public let reason: String

    package init(
        _ side: Side,
        className: String,
        key: String,
        property: String? = nil,
        reason: String
    ) {
        self.side = side
        self.className = className
        self.key = key
        self.property = property
        self.reason = reason
    }
}

/// A step of a client reset (client reset, 1).
public enum ResetEvent: Sendable, Equatable {
    /// The server demands a new file: the realm starts over when it is next opened, or at once with
    /// the token in ``FileRecovery``.
    case required(reason: String, FileRecovery)
    case started(ResetMode, reason: String)
    case progress(ResetStep)
    case finished(ResetMode, ResetSummary)
    /// The realm is unchanged, and its owner must decide.
    case failed(ResetMode, code: String, reason: String, FileRecovery?)
    /// The file was archived at this path, and the realm downloads a new one.
    case startedOver(ResetMode?, reason: String, copyPath: String)

    /// The replacement of a realm file that must start over.
    public struct FileRecovery: Sendable, Equatable {
        /// Path of the archived file.
        public let path: String
        /// Starts the realm over at once: ``SyncedRealm/startOver(token:)``.
        public let token: String
    }

    /// The result of a completed client reset.
    public struct ResetSummary: Sendable, Equatable {
        /// Whether unsynced changes were replayed.
        public let didRecover: Bool
        /// Number of changes that are no longer in the realm.
        public let discarded: Int
        /// Path of the kept changes; nil if there are none.
        public let keptPath: String?
    }
}
