/// Something that happened to a realm.
public enum RealmEvent: Sendable, Equatable {
    /// The realm came into another state, or another cause keeps it there.
    case activity(RealmActivity)
    case error(RealmError)
    /// Local writes that were not taken, each row as it was before.
    case rejected([RealmRejection])
    /// The server has local changesets: how many, and how long after their capture those that were
    /// timed.
    case uploaded(changesets: Int, after: [Duration])
    /// Changes of others are in the file.
    case changed(changesets: Int, duration: Duration, localVersion: UInt64)
    case reset(ResetEvent)
}

/// What a realm is doing, and why.
public struct RealmActivity: Sendable, Equatable {
    public var phase: RealmPhase
    public var cause: RealmCause?
    /// A sentence about the cause, with a remedy where there is one.
    public var detail: String?

    package init(_ phase: RealmPhase, _ cause: RealmCause? = nil, _ detail: String? = nil) {
        self.phase = phase
        self.cause = cause
        self.detail = detail
    }
}

/// One local write that was not taken.
public struct RealmRejection: Sendable, Equatable {
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
    public let property: String?
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

/// What a client reset does, step by step (client reset, 1).
public enum ResetEvent: Sendable, Equatable {
    /// The server wants the file removed; it starts over at the next start, or with this token.
    case required(reason: String, FileRecovery)
    case started(ResetMode, reason: String)
    case progress(ResetStep)
    case finished(ResetMode, ResetSummary)
    /// The realm is as it was, and its owner must decide.
    case failed(ResetMode, code: String, reason: String, FileRecovery?)
    /// The file was kept as a copy, and the realm downloads a new one.
    case startedOver(ResetMode?, reason: String, copyPath: String)

    /// How a realm that needs it starts over.
    public struct FileRecovery: Sendable, Equatable {
        /// Where the file is kept then.
        public let path: String
        /// Starts the realm over at once: ``SyncedRealm/startOver(token:)``.
        public let token: String
    }

    public struct ResetSummary: Sendable, Equatable {
        public let didRecover: Bool
        /// Changes that are in the realm no more.
        public let discarded: Int
        /// Where they are kept; nil if there are none.
        public let keptPath: String?
    }
}
