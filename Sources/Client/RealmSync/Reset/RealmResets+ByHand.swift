package import ClientReset
package import LocalRealm
import Logging
import SyncClient

/// The reason why a manual reset was refused.
package enum ResetRefusal: Error {
    /// The realm is unchanged; the failure has a code of its own.
    case failed(ResetFailure)
    /// A rehearsal found that a reset would be left to the owner.
    case wouldFail(ResetFailure)
    /// A reset is not possible now; the reason.
    case impossible(String)
    /// No pending start-over has this token.
    case unknownToken
}

/// The result of a manual reset.
package enum ResetByHand: Sendable {
    case done(ResetResult)
    /// The realm was kept as a copy there, and starts over.
    case startedOver(copyPath: String)
    /// A rehearsal: what would happen, where discarded changes would go, and why they would not be
    /// recovered.
    case rehearsed(ResetReport, keptIn: String?, obstacle: ResetFailure?)
    /// A rehearsal: the realm would be kept as a copy in that directory, and start over.
    case wouldStartOver(copyIn: String)
}

/// Client resets at the request of an owner or a handler.
extension RealmResets {
    /// - Parameter client: nil if the realm is not open.
    func resetByHand(
        _ client: RealmClient?,
        mode wanted: ResetMode?,
        isRehearsal: Bool,
        _ host: some ResetHost
    ) async throws(ResetRefusal) -> ResetByHand {
        let mode = wanted ?? mode
        if mode == .manual, !isRehearsal { return try await startOver(host) }
        guard let client else { throw .impossible("the realm is not open") }
        guard !current.isRunning else { throw .impossible("a reset is under way") }
        let needed = await client.resetCause ?? current.standing
        let cause = ResetCause(needed, otherwise: "asked for by hand", origin: .request)
        guard !isRehearsal else { return try await rehearse(client, cause, mode, host) }
        await client.asksForResets()
        switch await reset(client, cause, mode: mode, host) {
        case .done(let result): return .done(result)
        case .refused(let failure): throw .failed(failure)
        case .postponed(let decision):
            throw .impossible("the handler \(decision.plugin) put it off")
        case .interrupted: throw .impossible("the agent is stopping")
        }
    }

    private func rehearse(
        _ client: RealmClient,
        _ cause: ResetCause,
        _ mode: ResetMode,
        _ host: some ResetHost
    ) async throws(ResetRefusal) -> ResetByHand {
        guard mode != .manual else { return .wouldStartOver(copyIn: context.recoveredDirectory) }
        guard begin() else { throw .impossible("a reset is under way") }
        defer { update { $0.isRunning = false } }
        do {
            let (report, obstacle) = try await coordinator(client, host).rehearse(
                cause,
                mode: mode
            )
            let isKept = context.options.reset.exportsDiscarded && !report.didRecover
            return .rehearsed(
                report,
                keptIn: isKept ? context.recoveredDirectory : nil,
                obstacle: obstacle
            )
        } catch let failure as ResetFailure {
            throw .wouldFail(failure)
        } catch {
            throw .impossible("\(error)")
        }
    }

    /// Carries out a handler's decision about an error. The last reset has not proved successful
    /// yet, so an equal one counts towards the loop limit.
    func resetAsDecided(
        _ client: RealmClient?,
        _ wanted: ResetMode?,
        by plugin: String,
        _ host: some ResetHost
    ) async {
        guard let client, !current.isRunning else {
            context.logger.warning(
                "client reset of a handler not possible now",
                metadata: ["plugin": "\(plugin)"]
            )
            return
        }
        let mode = wanted ?? mode
        let cause = ResetCause(
            await client.resetCause,
            otherwise: "the handler \(plugin) decided on it",
            origin: .server
        )
        guard mode != .manual else {
            await plan(action(.manualMode))
            return await startOverOnceClosed(client)
        }
        await reset(client, cause, mode: mode, host)
    }

    /// Forgets why a reset was left to the owner, so that it is tried again if it is still needed.
    ///
    /// - Returns: whether one was.
    func forgetFailure() async -> Bool {
        await plan(nil)
        return update { state in
            let wasLeftToOwner = state.failure != nil
            state.failure = nil
            // Other findings about the file are made again.
            if state.standing?.origin != .restoredFile { state.standing = nil }
            return wasLeftToOwner
        }
    }
}

extension ResetCause {
    /// The cause of a reset that is needed, or of one that nothing but this text demands, with another
    /// origin.
    init(_ needed: ResetCause?, otherwise message: String, origin: Origin) {
        self.init(
            action: needed?.action ?? .clientReset,
            code: needed?.code ?? 0,
            message: needed?.message ?? message,
            origin: origin
        )
    }
}
