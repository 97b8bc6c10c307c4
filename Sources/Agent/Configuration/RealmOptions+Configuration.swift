import Changesets
import ClientReset
import Config
import RealmSync
import Schemas
import Scopes
import Subscriptions

extension RealmOptions {
    /// Options of a configured realm.
    init(_ configuration: RealmConfiguration) {
        let scope = configuration.scope
        let isFlexible = if case .subscriptions = scope { true } else { false }
        self.init(name: configuration.name, path: configuration.path, isFlexible: isFlexible) {
            userID throws(UnusableScope) in
            switch scope {
            case .subscriptions: return .subscriptions
            case .partition(let setting):
                do throws(PartitionError) {
                    return .partition(try setting.value(userID: userID))
                } catch {
                    throw UnusableScope(reason: error.description)
                }
            }
        }
        if let path = configuration.pathOfUser {
            location = RealmLocation(placeholder: configuration.path) { path.text(userID: $0) }
        }
        declaredSubscriptions = Self.declaredSubscriptions(of: configuration)
        rerunsInitialSubscriptions = configuration.rerunsSubscriptions
        schema = configuration.schema.map(DeclaredSchema.init)
        isReadOnly = configuration.isReadOnly
        learnedCounters = Set(
            configuration.counters.map {
                PropertyName(className: Text($0.className), property: Text($0.property))
            }
        )
        requiresLinkTargets = configuration.requiresLinkTargets
        triggersOnRemoteChanges = configuration.triggersOnRemoteChanges
        seed = configuration.seed
        open = OpenOptions(configuration.opening)
        capture = CaptureOptions(
            delay: configuration.capture.delay,
            splitGap: configuration.capture.splitGap
        )
        reset = ResetOptions(
            mode: ResetMode(configuration.clientReset.mode),
            recoveryDirectory: configuration.clientReset.recoveryDirectory,
            exportsDiscarded: configuration.clientReset.exportsDiscarded
        )
        shutdownUploadTimeout = configuration.shutdownUploadTimeout
    }
}

extension RealmOptions {
    /// The subscriptions of a realm with flexible sync, for a user; nil for a partition.
    static func declaredSubscriptions(
        of configuration: RealmConfiguration
    ) -> DeclaredSubscriptionSource? {
        guard case .subscriptions(let declared) = configuration.scope else { return nil }
        return { userID in
            declared.map { subscription in
                SubscriptionContent(
                    name: subscription.name.map { Text($0) },
                    className: Text(subscription.className),
                    query: Text(bytes: subscription.query.text(userID: userID))
                )
            }
        }
    }
}

extension OpenOptions {
    init(_ configuration: OpenConfiguration) {
        let download: Download =
            switch configuration.download {
            case .never: .never
            case .once: .once
            case .always: .always
            case .auto: .auto
            }
        self.init(download: download, timeout: configuration.timeout)
    }
}

extension ResetMode {
    init(_ mode: ClientResetConfiguration.Mode) {
        self =
            switch mode {
            case .recover: .recover
            case .recoverOrDiscard: .recoverOrDiscard
            case .discard: .discard
            case .manual: .manual
            }
    }
}
