import Coordination
import Logging
import Scheduling
import SyncClient
import Versions

/// Permission to sync: schedule and suspension.
extension SyncedRealm {
    /// Sets what schedule, network and host permit.
    ///
    /// Takes effect at once, and lasts until the next call.
    public func allow(_ permission: SyncPermission) {
        guard permission != conditions.permission else { return }
        conditions.permission = permission
        if case .once = permission { onceWanted.raise() }
        conditionsChanged.raise()
    }

    package var permission: SyncPermission { conditions.permission }

    /// Stops the sync of this realm in both directions until it is resumed. Survives restarts; local
    /// writes are still captured.
    ///
    /// - Parameters:
    ///   - until: end of the suspension in milliseconds since 1970; nil until ``resume()``.
    ///   - author: the user or plugin that ``status()`` names.
    public func suspend(until: Int64? = nil, by author: Suspension.Author = .user) async {
        let suspension = Suspension(until: until, author: author)
        conditions.suspension = suspension
        conditionsChanged.raise()
        var fields: Logger.Metadata = ["cause": "\(suspension.cause.rawValue)"]
        if let until { fields["until"] = "\(WallTime(millisecondsSince1970: until))" }
        context.logger.notice("suspended", metadata: fields)
        await memory.remember(conditions.suspension)
    }

    /// Ends a suspension; does nothing if there is none.
    public func resume() async {
        guard conditions.suspension != nil else { return }
        conditions.suspension = nil
        conditionsChanged.raise()
        context.logger.notice("resumed")
        await memory.remember(conditions.suspension)
    }

    /// Retries log-in, file and connection now, without waiting for their back-off.
    public func reconnect() {
        attemptNow.raise()
        context.connection.reconnect()
        if context.otherConnection !== context.connection { context.otherConnection.reconnect() }
    }

    var isAllowed: Bool {
        conditions.isOpen(at: context.now(), duringReset: resets.current.keepsSessionAway)
    }

    /// The suspension in force; nil if there is none, or it has ended.
    public var currentSuspension: Suspension? { conditions.suspension(at: context.now()) }

    /// The reason why the realm does not sync; nil if it may.
    var pause: SyncConditions.Pause? {
        conditions.pause(at: context.now(), duringReset: resets.current.keepsSessionAway)
    }

    /// Publishes the cause of a pause, which the session does not know.
    package func publishPause() async {
        let status = await status()
        guard pause != nil else { return }
        // A refresh has just ended: the schedule is about to compute the next one.
        if currentSuspension == nil,
            conditions.permission == .paused(.refreshInterval, detail: nil)
        {
            return
        }
        context.events.publish(.activity(status.activity))
    }

    /// Joins or leaves the connection as the permission says.
    func followPermission(_ client: RealmClient) async -> Duty.Next {
        await resumeIfDue()
        if isAllowed {
            if wantsNewSession {
                wantsNewSession = false
                await context.connection(of: client).leave(client)
            }
            await context.connection(of: client).join(client)
        } else {
            await context.connection(of: client).leave(client)
            await publishPause()
        }
        return restOfSuspension.map(Duty.Next.within) ?? .onSignal
    }

    /// Nil if there is no suspension, or none with an end.
    private var restOfSuspension: Duration? {
        currentSuspension?.until.map {
            .milliseconds(max(0, $0.subtracting(clamping: context.now())))
        }
    }

    private func resumeIfDue() async {
        if conditions.suspension?.hasEnded(at: context.now()) == true { await resume() }
    }

    /// Waits for a change of the permission; the end of a suspension counts as one.
    func waitForPermission() async {
        guard let rest = restOfSuspension else {
            await conditionsChanged.wait()
            return
        }
        if await !conditionsChanged.wait(atMost: rest, context.time) { await resumeIfDue() }
    }

    func syncOnce(_ client: RealmClient) async {
        guard case .once(let reason) = conditions.permission else { return }
        context.logger.info("refresh", metadata: ["reason": "\(reason)"])
        let outcome = await refresh(client)
        guard !Task.isCancelled, case .once = conditions.permission else { return }
        context.logger.info("refresh ended", metadata: ["outcome": "\(outcome)"])
        allow(.paused(.refreshInterval, detail: nil))
        scheduleAttention.raise()
    }

    /// A refresh without a server waits for one, until its permission ends.
    private func refresh(_ client: RealmClient) async -> SyncOutcome {
        let outcome = await client.sync(timeout: nil, context.time)
        guard case .offline = outcome, case .once = conditions.permission, !Task.isCancelled
        else {
            return outcome
        }
        return await client.wait(for: TransferDirection.allCases, timeout: nil, context.time)
    }

    /// Uploads pending changes within ``RealmOptions/shutdownUploadTimeout``, and ends the session. Call
    /// it before the task of ``run()`` is cancelled (features, S7). Does nothing if the file is not open.
    public func finish() async {
        guard let client, !Task.isCancelled else { return }
        let timeout = context.options.shutdownUploadTimeout
        if isAllowed, await client.snapshot().phase == .bound, await client.hasPendingUploads() {
            let outcome = await client.wait(for: [.upload], timeout: timeout, context.time)
            if outcome != .done {
                context.logger.warning(
                    "stopping with pending uploads",
                    metadata: ["outcome": "\(outcome)"]
                )
            }
        }
        conditions.isFinishing = true
        let connection = context.connection(of: client)
        await connection.leave(client)
        await connection.flush(atMost: .seconds(1))
    }
}
