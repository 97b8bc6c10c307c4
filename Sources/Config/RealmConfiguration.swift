package import Scheduling
package import SchemaFiles

/// A local realm, and what part of the app's data it holds (section `realms`).
package struct RealmConfiguration: Hashable, Sendable {
    /// Safe as the name of a file.
    package var name: String
    package var user: UserConfiguration
    package var scope: Scope
    /// Nil if the classes are learned from the server.
    package var schema: SchemaDeclaration?
    /// The SQLite file; with a placeholder if it depends on the user.
    package var path: String
    /// The path, if it contains the user's id.
    package var pathOfUser: UserTemplate?
    package var isEnabled: Bool
    /// Whether local writes are refused.
    package var isReadOnly: Bool
    package var capture: CaptureConfiguration
    package var opening: OpenConfiguration
    package var clientReset: ClientResetConfiguration
    /// Asked about every error, in this order.
    package var errorHandlers: [PluginConfiguration]
    package var schedule: SchedulePolicy
    /// A file to begin with instead of a download.
    package var seed: String?
    /// Integers of learned schemas whose changes are sent as increments.
    package var counters: [PropertyReference]
    /// Whether a link to a missing object is refused.
    package var requiresLinkTargets: Bool
    /// Triggers of applications that run on remote changes too.
    package var triggersOnRemoteChanges: [String]
    /// Maximum delay of the agent's end for uploads.
    package var shutdownUploadTimeout: Duration
    /// Whether subscriptions are sent again at each start.
    package var rerunsSubscriptions: Bool

    /// The same with the path of a user with this id; unchanged if it is nil, or the path does not depend
    /// on it.
    package func located(userID: String?) -> RealmConfiguration {
        guard let pathOfUser, let userID else { return self }
        var located = self
        located.path = pathOfUser.text(userID: userID)
        return located
    }

    /// The data that the realm holds.
    package enum Scope: Hashable, Sendable {
        case partition(PartitionSetting)
        /// Flexible sync.
        case subscriptions([SubscriptionConfiguration])
    }
}

/// When local writes become changesets (local realm, 4.2 and 6).
package struct CaptureConfiguration: Hashable, Sendable {
    /// Time during which successive writes are gathered into one upload.
    package var delay: Duration = .milliseconds(20)
    /// Writes further apart than this belong to different changesets.
    package var splitGap: Duration = .seconds(10)
}

/// The downloads that a realm requires before it counts as open.
package struct OpenConfiguration: Hashable, Sendable {
    package var download: Download = .never
    /// Limit on the wait; nil for no limit.
    package var timeout: Duration?

    package init(download: Download = .never, timeout: Duration? = nil) {
        self.download = download
        self.timeout = timeout
    }

    package enum Download: String, CaseIterable, Sendable {
        case never, once, always
        /// As `always`; but earlier complete data suffices if the server cannot be reached or the
        /// limit passes.
        case auto
    }
}

/// Settings of client resets, which happen when the server no longer knows the realm's history.
package struct ClientResetConfiguration: Hashable, Sendable {
    package var mode: Mode = .recover
    package var before: [PluginConfiguration] = []
    package var after: [PluginConfiguration] = []
    package var manual: [PluginConfiguration] = []
    /// Nil for `recovered` in the data directory.
    package var recoveryDirectory: String?
    /// Whether a reset is abandoned if a handler in `before` fails.
    package var requiresBefore = false
    /// Whether discarded changes are written to a file first.
    package var exportsDiscarded = true

    package enum Mode: String, CaseIterable, Sendable {
        case recover = "recover-unsynced-changes"
        case recoverOrDiscard = "recover-or-discard-unsynced-changes"
        case discard = "discard-unsynced-changes"
        case manual
    }
}

/// Objects of a flexible-sync realm: those of a class that match a query.
package struct SubscriptionConfiguration: Hashable, Sendable {
    /// Nil for a subscription that its class and query identify.
    package var name: String?
    package var className: String
    package var query: QueryTemplate
}

/// A property by the name of its class: `Item.stock`.
package struct PropertyReference: Hashable, Sendable {
    package var className: String
    package var property: String
}
