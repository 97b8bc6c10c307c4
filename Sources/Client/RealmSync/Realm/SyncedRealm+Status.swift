import ClientReset
import LocalRealm
package import SyncClient
package import SyncProtocol

extension SyncedRealm {
    /// The realm's present status; never waits for work on its file.
    public func status() async -> SyncedRealmStatus {
        var status = SyncedRealmStatus(.waitingForUser, partition: partition)
        status.lastTransfers = await recordedTransfers()
        switch stage {
        case .starting, .stopped: break
        case .failed(let failure):
            status.activity = failure.activity
            status.error = .init(failure.error)
            status.timeToNextAttempt = nextAttempt.map { max(.zero, $0 - context.time.uptime()) }
        // Closed permanently; the file may be deleted.
        case .running where fileClosing == nil: break
        case .running(let client):
            let snapshot = await client.snapshot()
            status.file = .init(snapshot)
            status.lastTransfers.update(snapshot)
            status.subscriptions = SubscriptionStatus(snapshot)
            status.isMigrated = snapshot.file.migration != nil
            status.activity = RealmActivity(
                snapshot.phase,
                snapshot.standing,
                context.options.open
            )
            status.error = .init(snapshot.phase)
            if let unhealed {
                status.activity = unhealed.activity
                status.error = .init(unhealed.error)
            }
            if status.activity.phase == .offline {
                status.timeToNextAttempt = await context.connection(of: client).timeToNextAttempt
                    .map { max(.zero, $0) }
            }
        }
        describeReset(&status)
        if let pause {
            status.activity = RealmActivity(
                pause.isSuspension ? .suspended : .paused,
                pause.cause,
                pause.detail
            )
            status.timeToNextAttempt = nil
        }
        return status
    }

    private func describeReset(_ status: inout SyncedRealmStatus) {
        let reset = resets.current
        if reset.isRunning {
            status.activity = RealmActivity(.resetting, .clientReset, reset.step?.description)
        } else if let failure = reset.failure,
            status.activity.phase == .needsReset || reset.standing != nil
        {
            status.activity = RealmActivity(
                .needsReset,
                .clientReset,
                "\(failure) [\(failure.code)]"
            )
            status.error = .init(
                code: failure.code,
                sdkCode: SDKErrorCode.clientReset.rawValue,
                message: "\(failure)",
                logURL: status.error?.logURL
            )
        }
    }

    /// Whether the file is open and the downloads of ``RealmOptions/open`` are complete.
    public var isReady: Bool {
        get async {
            guard let snapshot = await client?.snapshot() else { return false }
            return OpenRequirement(context.options.open, snapshot).verdict == .open
        }
    }

    /// Time of the last contact with the server, in milliseconds since 1970; nil if there was none.
    public func lastConnected() async -> Int64? {
        if let last = await client?.snapshot().lastConnected { return last }
        return await memory.lastConnected()
    }
}

extension SyncedRealmStatus.LastTransfers {
    /// The open file knows of newer ones than the record.
    fileprivate mutating func update(_ snapshot: RealmClientStatus) {
        connected = snapshot.lastConnected ?? connected
        uploaded = snapshot.lastUploaded ?? uploaded
        downloaded = snapshot.lastDownloaded ?? downloaded
    }
}

/// The kind of sync, which the server may have changed (flexible sync, 16.1).
extension SyncedRealm {
    /// That of the open file; the configured one while it is closed.
    package var mode: SyncMode {
        client?.mode ?? (context.options.isFlexible ? .flexible : .partitionBased)
    }

    /// The connection that carries the realm now.
    package var presentConnection: UserConnection { context.connection(for: mode) }
}
