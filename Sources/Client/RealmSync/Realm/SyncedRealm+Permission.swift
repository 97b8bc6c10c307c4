import Coordination
import Logging
import Scheduling
import SyncClient
import Versions

/// Whether the realm may sync: its schedule, and the owner's word.
extension SyncedRealm {
    /// What schedule, network and host say from now on.
    public func allow(_ permission: SyncPermission) {
        guard permission != gate.permission else { return }
        gate.permission = permission
        if case .once = permission { onceWanted.raise() }
        gateChanged.raise()
    }

    package var permission: SyncPermission { gate.permission }

    /// Stops the sync of this realm, in both directions, until it is resumed; survives restarts. Local
    /// writes are captured meanwhile.
    ///
    /// - Parameter until: milliseconds since 1970; nil until ``resume()``.
    public func suspend(until: Int64? = nil, by author: Suspension.Author = .user) async {
        gate.suspension = Suspension(until: until, author: author)
        gateChanged.raise()
        let end = until.map { WallTime(millisecondsSince1970: $0).description } ?? "resumed"
        context.logger.notice("suspended", metadata: ["until": "\(end)"])
        await memory.remember(gate.suspension)
    }

    /// Ends a suspension; nothing if there is none.
    public func resume() async {
        guard gate.suspension != nil else { return }
        gate.suspension = nil
        gateChanged.raise()
        context.logger.notice("resumed")
        await memory.remember(gate.suspension)
    }

    /// Tries now what waits for its time: log-in, file, connection.
    public func reconnect() {
        attemptNow.raise()
        context.connection.reconnect()
    }

    var isAllowed: Bool {
        gate.isOpen(at: context.now(), duringReset: resets.current.keepsSessionAway)
    }

    /// Nil if the realm is not suspended, or its suspension is over.
    public var currentSuspension: Suspension? { gate.suspension(at: context.now()) }

    /// Why the realm does not sync; nil if it may.
    var pause: SyncGate.Pause? {
        gate.pause(at: context.now(), duringReset: resets.current.keepsSessionAway)
    }

    /// Publishes what keeps the realm from syncing, which its session does not know.
    package func publishPause() async {
        let status = await status()
        guard pause != nil else { return }
        // A refresh has just ended: the schedule is about to say when the next one comes.
        if currentSuspension == nil, gate.permission == .paused(.refreshInterval, detail: nil) {
            return
        }
        context.events.publish(.activity(status.activity))
    }

    /// Joins the connection and leaves it, as the permission changes.
    func followPermission(_ client: RealmClient) async {
        while !Task.isCancelled {
            if isAllowed {
                await context.connection.join(client)
            } else {
                await context.connection.leave(client)
                await publishPause()
            }
            await waitForPermission()
        }
    }

    /// Waits for a change of the permission, which the end of a suspension is as well.
    func waitForPermission() async {
        guard let until = currentSuspension?.until else {
            await gateChanged.wait()
            return
        }
        let rest = Duration.milliseconds(max(0, until.subtracting(clamping: context.now())))
        guard await !gateChanged.wait(atMost: rest, context.time) else { return }
        if gate.suspension?.isOver(at: context.now()) == true { await resume() }
    }

    func syncOnceWhenWanted(_ client: RealmClient) async {
        while await onceWanted.wait() {
            guard case .once(let reason) = gate.permission else { continue }
            context.logger.info("refresh", metadata: ["reason": "\(reason)"])
            let outcome = await refresh(client)
            guard !Task.isCancelled, case .once = gate.permission else { continue }
            context.logger.info("refresh ended", metadata: ["outcome": "\(outcome)"])
            allow(.paused(.refreshInterval, detail: nil))
            scheduleAttention.raise()
        }
    }

    /// A refresh that finds no server continues until it does, or until its time is over.
    private func refresh(_ client: RealmClient) async -> SyncOutcome {
        let outcome = await client.sync(timeout: nil, context.time)
        guard case .offline = outcome, case .once = gate.permission, !Task.isCancelled else {
            return outcome
        }
        return await client.wait(for: TransferDirection.allCases, timeout: nil, context.time)
    }

    /// Uploads what is written, within ``RealmOptions/shutdownUploadTimeout``, and ends the session: the
    /// orderly end of a realm's sync, before ``run()`` is cancelled (features, S7).
    public func finish() async {
        guard let client, !Task.isCancelled else { return }
        let timeout = context.options.shutdownUploadTimeout
        if isAllowed, await client.snapshot().phase == .bound, await client.hasPendingUploads() {
            let outcome = await client.wait(for: [.upload], timeout: timeout, context.time)
            if outcome != .done {
                context.logger.warning(
                    "stopping with writes that the server does not have",
                    metadata: ["outcome": "\(outcome)"]
                )
            }
        }
        gate.isFinishing = true
        await context.connection.leave(client)
        await context.connection.flush(atMost: .seconds(1))
    }
}
