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
    /// Resets an open realm, or starts it over in mode `manual`.
    func resetByHand(
        mode wanted: ResetMode?,
        isRehearsal: Bool,
        _ host: some ResetHost
    ) async throws(ResetRefusal) -> ResetByHand {
        let mode = wanted ?? mode
        if mode == .manual, !isRehearsal { return try await startOver(host) }
        let result = await host.whileOpen { client -> Result<ResetByHand, ResetRefusal> in
            do throws(ResetRefusal) {
                return .success(
                    try await self.resetByHand(client, mode, isRehearsal: isRehearsal, host)
                )
            } catch {
                return .failure(error)
            }
        }
        guard let result else { throw .impossible("the realm is not open") }
        return try result.get()
    }

    private func resetByHand(
        _ client: RealmClient,
        _ mode: ResetMode,
        isRehearsal: Bool,
        _ host: some ResetHost
    ) async throws(ResetRefusal) -> ResetByHand {
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
        case .interrupted: throw .impossible("the realm is closing")
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
        _ wanted: ResetMode?,
        by plugin: String,
        _ host: some ResetHost
    ) async {
        let hasBegun = await host.whileOpen { client in
            guard !self.current.isRunning else { return false }
            await self.resetAsDecided(client, wanted ?? self.mode, by: plugin, host)
            return true
        }
        if hasBegun != true {
            context.resetLogger.warning(
                "client reset of a handler not possible now",
                metadata: ["plugin": "\(plugin)"]
            )
        }
    }

    private func resetAsDecided(
        _ client: RealmClient,
        _ mode: ResetMode,
        by plugin: String,
        _ host: some ResetHost
    ) async {
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
            origin: origin,
            partitionQuery: needed?.partitionQuery
        )
    }
}
