import ClientReset
import Config
import Control
import LocalRealm
import Logging
import Platform
import SQLite
import SyncClient
import Versions

/// Realms that are kept as a copy and begin anew (client reset, 11.3).
extension RealmSupervisor {
    /// Now, because somebody wants it.
    func startOver() async throws(ControlError) -> ResetAnswer {
        let action = resets.fileAction ?? action(.manualMode)
        let failure = await whileClosed { await self.carryOut(action) }
        if let failure {
            throw .resetImpossible(configuration.name, "no copy could be made: \(failure)")
        }
        return ResetAnswer(configuration.name, copyPath: action.recoveryPath)
    }

    /// Now, because whoever was told of the reset has seen to it (features, R5).
    func startOver(token: String) async throws(ControlError) -> ResetAnswer {
        guard resets.fileAction?.token == token else {
            throw .unknownResetToken(configuration.name)
        }
        return try await startOver()
    }

    /// As soon as the client that runs has closed the file.
    func startOverOnceClosed(_ client: RealmClient) async {
        guard resets.fileAction != nil else { return }
        resets.startsOver = true
        await client.end()
    }

    /// What was to happen before the file is opened again, once it is closed.
    func startOverIfWanted() async {
        guard resets.startsOver, let action = resets.fileAction else { return }
        resets.startsOver = false
        _ = await carryOut(action)
    }

    /// What an earlier run of the agent has left to do with the file.
    func carryOutFileActionOfEarlierRun() async {
        do {
            guard let action = try await register.fileAction() else { return }
            resets.fileAction = action
            guard action.mode == nil || action.mode == resetMode.rawValue else {
                // The owner has read the message, and wants something else.
                return await planFileAction(nil)
            }
            _ = await carryOut(action)
        } catch {
            logger.error("the register cannot be read", metadata: ["detail": "\(error)"])
        }
    }

    /// - Returns: why the realm is as it was.
    private func carryOut(_ action: FileAction) async -> String? {
        let (path, directory) = (configuration.path, recoveredDirectory)
        let failure = await opener.surroundings.executor("recovered").perform { () -> String? in
            do {
                try DataDirectory.prepareRecovered(directory)
                try RealmFile.setAside(path, to: action.recoveryPath)
                return nil
            } catch {
                return "\(error)"
            }
        }
        if let failure {
            logger.error("the realm cannot be kept as a copy", metadata: ["detail": "\(failure)"])
            return failure
        }
        await planFileAction(nil)
        resets = ResetState()
        logger.notice("the realm starts over", metadata: ["copy": "\(action.recoveryPath)"])
        var fact = ResetFact(stage: .startedOver, mode: action.mode, detail: action.reason)
        fact.recoveryPath = action.recoveryPath
        publish(fact)
        return nil
    }

    /// The server wants nothing to do with this file any more (client reset, 2.1; interfaces, 9).
    func planRemoval(of client: RealmClient, _ issue: SessionIssue) async {
        // One that never was the server's holds nothing that the server could mean.
        guard await client.snapshot().file.fileIdent != .none else { return }
        await planFileAction(
            FileAction(
                recoveryPath: placeOfCopy,
                token: newToken(),
                code: "sync.\(issue.code)",
                reason: issue.message,
                mode: nil
            )
        )
        var fact = ResetFact(
            stage: .required,
            mode: ResetMode.manual.rawValue,
            detail: issue.message
        )
        fact.recoveryPath = resets.fileAction?.recoveryPath
        fact.token = resets.fileAction?.token
        publish(fact)
    }

    /// Only the newest counts; nil takes it back.
    func planFileAction(_ action: FileAction?) async {
        guard action != resets.fileAction else { return }
        resets.fileAction = action
        do {
            try await register.keepFileAction(action)
        } catch {
            logger.error("the register cannot be written", metadata: ["detail": "\(error)"])
        }
    }

    func action(_ failure: ResetFailure) -> FileAction {
        FileAction(
            recoveryPath: placeOfCopy,
            token: newToken(),
            code: failure.code,
            reason: "\(failure)",
            mode: resetMode.rawValue
        )
    }

    var placeOfCopy: String {
        RecoveredFile(
            in: recoveredDirectory,
            realm: configuration.name,
            at: WallTime(millisecondsSince1970: now()),
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
