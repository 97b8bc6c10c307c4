import ClientReset
import LocalRealm
import Logging
import SQLite
import Scheduling
import SyncClient
import Versions

/// Realms that are kept as a copy and start over (client reset, 11.3).
extension RealmResets {
    /// Now, because the owner wants it.
    func startOver(_ host: some ResetHost) async throws(ResetRefusal) -> ResetByHand {
        let action = current.fileAction ?? action(.manualMode)
        let failure = await host.whileClosed { await self.carryOut(action) }
        if let failure { throw .impossible("no copy could be made: \(failure)") }
        return .startedOver(copyPath: action.recoveryPath)
    }

    /// Now, because the owner who was told of the reset has dealt with it (features, R5).
    func startOver(
        token: String,
        _ host: some ResetHost
    ) async throws(ResetRefusal) -> ResetByHand {
        guard current.fileAction?.token == token else { throw .unknownToken }
        return try await startOver(host)
    }

    /// As soon as the client that runs has closed the file.
    func startOverOnceClosed(_ client: RealmClient) async {
        guard current.fileAction != nil else { return }
        update { $0.startsOver = true }
        await client.end()
    }

    /// What was to happen before the file is opened again, once it is closed.
    func startOverIfWanted() async {
        let action = update { state -> FileAction? in
            guard state.startsOver, let action = state.fileAction else { return nil }
            state.startsOver = false
            return action
        }
        if let action { _ = await carryOut(action) }
    }

    /// What an earlier process has left to do with the file.
    func carryOutFileActionOfEarlierRun() async {
        do {
            guard let action = try await context.register.fileAction() else { return }
            update { $0.fileAction = action }
            guard action.mode == nil || action.mode == mode.rawValue else {
                // The owner has read the message, and wants something else.
                return await plan(nil)
            }
            _ = await carryOut(action)
        } catch {
            context.logger.error(
                "the register cannot be read",
                metadata: ["detail": "\(error)"]
            )
        }
    }

    /// - Returns: why the realm is as it was.
    private func carryOut(_ action: FileAction) async -> String? {
        let (path, directory) = (context.options.path, context.recoveredDirectory)
        let executor = context.opener.surroundings.executor("recovered")
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
            context.logger.error(
                "the realm cannot be kept as a copy",
                metadata: ["detail": "\(failure)"]
            )
            return failure
        }
        await plan(nil)
        update { $0 = ResetState() }
        context.logger.notice(
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

    /// The server wants nothing to do with this file any more (client reset, 2.1; interfaces, 9).
    func planRemoval(of client: RealmClient, _ issue: SessionIssue) async {
        // One that never was the server's holds nothing that the server could mean.
        guard await client.snapshot().file.fileIdent != .none else { return }
        let action = FileAction(
            recoveryPath: pathOfCopy,
            token: newToken(),
            code: "sync.\(issue.code)",
            reason: issue.message,
            mode: nil
        )
        await plan(action)
        context.events.publish(.reset(.required(reason: issue.message, action.recovery)))
    }

    /// Only the newest counts; nil takes it back.
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

    /// Where a copy that is made now goes.
    var pathOfCopy: String {
        RecoveredFile(
            in: context.recoveredDirectory,
            realm: context.options.name,
            at: WallTime(millisecondsSince1970: context.now()),
            suffix: ".sqlite"
        ).path
    }

    private func newToken() -> String {
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        return bytes.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0\(text)" : text
        }.joined()
    }
}

extension FileAction {
    var recovery: ResetEvent.FileRecovery {
        ResetEvent.FileRecovery(path: recoveryPath, token: token)
    }
}
