import Config
import Control
import Coordination
import Logging
import Platform
import SyncClient
import Versions

/// Whether the realm may sync, and who says so.
extension RealmSupervisor {
    /// What schedule, network and host say from now on.
    func allow(_ permission: SyncPermission) {
        guard permission != self.permission else { return }
        self.permission = permission
        if case .once = permission { onceWanted.raise() }
        permissionChanged.raise()
    }

    /// Stops the sync of this realm, in both directions, until the moment (milliseconds since 1970)
    /// or until it is resumed, across restarts. Local writes are captured meanwhile.
    func suspend(until: Int64? = nil, by author: Suspension.Author = .user) async {
        suspension = Suspension(until: until, author: author)
        permissionChanged.raise()
        logger.notice(
            "suspended",
            metadata: [
                "until":
                    "\(until.map { WallTime(millisecondsSince1970: $0).description } ?? "resumed")"
            ]
        )
        await rememberSuspension()
    }

    /// Ends a suspension; nothing if there is none.
    func resume() async {
        guard suspension != nil else { return }
        suspension = nil
        permissionChanged.raise()
        logger.notice("resumed")
        await rememberSuspension()
    }

    /// Tries now what waits for its time: log-in, file, connection.
    func reconnect() {
        attemptNow.raise()
        connection.reconnect()
    }

    var isAllowed: Bool {
        guard currentSuspension == nil, !resets.isUnderway, resets.standing == nil, !isFinishing
        else { return false }
        guard urgentSyncs == 0 else { return true }
        switch permission {
        case .run, .once: return true
        case .paused: return false
        }
    }

    var currentSuspension: Suspension? {
        suspension.flatMap { $0.isOver(at: now()) ? nil : $0 }
    }

    /// Why the realm does not sync; nil if it may.
    var pauseCause: PauseCause? {
        if let currentSuspension { return currentSuspension.cause }
        guard !isAllowed, case .paused(let cause, _) = permission else { return nil }
        return cause
    }

    var pauseDetail: String? {
        if let currentSuspension { return currentSuspension.cause.detail }
        guard case .paused(_, let detail) = permission else { return nil }
        return detail
    }

    /// Tells what keeps the realm from syncing, which its session does not know.
    func publishPause() async {
        let status = await status()
        guard pauseCause != nil else { return }
        // A refresh has just ended: the schedule is about to say when the next one comes.
        if currentSuspension == nil, case .paused(.refreshInterval, nil) = permission { return }
        let fact = StateFact(state: status.state, cause: status.cause, detail: status.detail)
        events.publish(AgentEvent(realm: configuration.name, .state(fact)))
    }

    /// Joins the connection and leaves it, as the permission goes.
    func followPermission(_ client: RealmClient) async {
        while !Task.isCancelled {
            if isAllowed {
                await connection.join(client)
            } else {
                await connection.leave(client)
                await publishPause()
            }
            await waitForPermission()
        }
    }

    /// Waits for a change of the permission, which the end of a suspension is as well.
    func waitForPermission() async {
        guard let until = currentSuspension?.until else {
            await permissionChanged.wait()
            return
        }
        let rest = Duration.milliseconds(max(0, until.subtracting(clamping: now())))
        guard await !permissionChanged.wait(atMost: rest, time) else { return }
        if suspension?.isOver(at: now()) == true { await resume() }
    }

    func syncOnceWhenWanted(_ client: RealmClient) async {
        while await onceWanted.wait() {
            guard case .once(let reason) = permission else { continue }
            logger.info("refresh", metadata: ["reason": "\(reason)"])
            let outcome = await refresh(client)
            guard !Task.isCancelled, case .once = permission else { continue }
            logger.info("refresh ended", metadata: ["outcome": "\(outcome)"])
            allow(.paused(.refreshInterval, detail: nil))
            scheduleAttention.raise()
        }
    }

    /// A refresh that finds no server goes on until it does, or until its time is over.
    private func refresh(_ client: RealmClient) async -> SyncOutcome {
        let outcome = await client.sync(timeout: nil, time)
        guard case .offline = outcome, case .once = permission, !Task.isCancelled else {
            return outcome
        }
        return await client.wait(for: TransferDirection.allCases, timeout: nil, time)
    }

    func recallSuspension() async {
        do {
            suspension = try await register.suspension()
        } catch {
            logger.error("the suspension cannot be read", metadata: ["detail": "\(error)"])
        }
    }

    private func rememberSuspension() async {
        do {
            try await register.keep(suspension)
        } catch {
            logger.error("the suspension cannot be stored", metadata: ["detail": "\(error)"])
        }
    }
}
