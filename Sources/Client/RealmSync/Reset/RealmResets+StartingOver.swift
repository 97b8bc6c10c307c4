import Changesets
import ClientReset
import LocalRealm
import Logging
import SQLite
import Scheduling
import SyncClient
import Versions

/// Archives realm files and starts over (client reset, 11.3).
extension RealmResets {
    /// Starts over now, at the owner's request.
    func startOver(_ host: some ResetHost) async throws(ResetRefusal) -> ResetByHand {
        let action = current.fileAction ?? action(.manualMode)
        let failure = await host.whileClosed { await self.carryOut(action) }
        if let failure { throw .impossible("no copy could be made: \(failure)") }
        return .startedOver(copyPath: action.recoveryPath)
    }

    /// Starts over now, at the request of the owner that got the reset's token (features, R5).
    func startOver(
        token: String,
        _ host: some ResetHost
    ) async throws(ResetRefusal) -> ResetByHand {
        guard current.fileAction?.token == token else { throw .unknownToken }
        return try await startOver(host)
    }

    /// Starts over as soon as the running client has closed the file.
    func startOverOnceClosed(_ client: RealmClient) async {
        guard current.fileAction != nil else { return }
        update { $0.startsOver = true }
        await client.end()
    }

    /// Carries out the due file action, now that the file is closed.
    func startOverIfWanted() async {
        let action = update { state -> FileAction? in
            guard state.startsOver, let action = state.fileAction else { return nil }
            state.startsOver = false
            return action
        }
        if let action { _ = await carryOut(action) }
    }

    /// Carries out the file action that an earlier process left.
    func carryOutFileActionOfEarlierRun() async {
        do {
            guard let action = try await context.register.fileAction() else { return }
            update { $0.fileAction = action }
            guard action.mode == nil || action.mode == mode.rawValue else {
                // The owner has since chosen another mode.
                return await plan(nil)
            }
            _ = await carryOut(action)
        } catch {
            context.resetLogger.error(
                "the register cannot be read",
                metadata: ["detail": "\(error)"]
            )
        }
    }

    /// - Returns: the reason why the realm is unchanged; nil after success.
    private func carryOut(_ action: FileAction) async -> String? {
        let (path, directory) = (context.options.path, context.recoveredDirectory)
        let executor = context.opener.environment.executor("recovered")
        let failure = await executor.perform { () -> String? in
            do {
                try DataDirectory.prepareRecovered(directory)
                try RealmFile.setAside(path, to: action.recoveryPath)
                return nil
            } catch {
                return "\(error)"
            }
        }
        if let failure {
            context.resetLogger.error(
                "realm file cannot be archived",
                metadata: ["detail": "\(failure)"]
            )
            return failure
        }
        await plan(nil)
        update { $0 = ResetState() }
        context.resetLogger.notice(
            "the realm starts over",
            metadata: ["copy": "\(action.recoveryPath)"]
        )
        context.events.publish(
            .reset(
                .startedOver(
                    action.mode.flatMap(ResetMode.init(rawValue:)),
                    reason: action.reason,
                    copyPath: action.recoveryPath
                )
            )
        )
        return nil
    }

    /// The server demands that the file be removed (client reset, 2.1; interfaces, 9).
    func planRemoval(of client: RealmClient, _ issue: SessionIssue) async {
        // A file without an ident was never synced, so the demand cannot concern it.
        guard await client.snapshot().file.fileIdent != .none else { return }
        let action = FileAction(
            recoveryPath: pathOfCopy,
            token: newToken(),
            code: issue.code,
            reason: issue.message,
            mode: nil
        )
        await plan(action)
        context.events.publish(.reset(.required(reason: issue.message, action.recovery)))
    }

    /// Only the newest plan counts; nil cancels it.
    func plan(_ action: FileAction?) async {
        let isNew = update { state in
            guard action != state.fileAction else { return false }
            state.fileAction = action
            return true
        }
        if isNew { await memory.remember(action) }
    }

    func action(_ failure: ResetFailure) -> FileAction {
        FileAction(
            recoveryPath: pathOfCopy,
            token: newToken(),
            code: failure.code,
            reason: "\(failure)",
            mode: mode.rawValue
        )
    }

    /// Path for a copy that is made now.
    var pathOfCopy: String {
        RecoveredFile(
            in: context.recoveredDirectory,
            realm: context.options.name,
            at: WallTime(millisecondsSince1970: context.now()),
            suffix: ".sqlite"
        ).path
    }

    private func newToken() -> String {
        Hexadecimal.text(of: (0..<16).map { _ in UInt8.random(in: .min ... .max) })
    }
}

extension FileAction {
    var recovery: ResetEvent.FileRecovery {
        ResetEvent.FileRecovery(path: recoveryPath, token: token)
    }
}
