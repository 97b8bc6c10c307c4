import Changesets
import Documents
import Logging
import Permissions
import Scopes
import ServerMetrics
import ServerStore
import SyncProtocol
import Transport
import Versions

/// The store work of sessions.
extension SyncConnection {
    /// Carries out a session's steps, one after the other, until none is left.
    func doWork(of key: SessionKey) async {
        while let (step, session) = work.next(of: key) {
            switch step {
            case .open(let path, let needsFileIdent):
                await ConnectionOpenings.open(
                    path.bytes,
                    needsFileIdent: needsFileIdent,
                    key,
                    on: self
                )
            case .validate(let ident):
                await ConnectionOpenings.validate(ident, session, key, on: self)
            case .integrate(let uploads):
                await ConnectionUploads.integrate(uploads, session, key, on: self)
            case .scanDownload(let cursor):
                await ConnectionDownloads.scan(from: cursor, session, key, on: self)
            case .subscribe(let query):
                await ConnectionViews.subscribe(query, session, key, on: self)
            }
            noteFinished(step)
        }
    }
}

extension SyncConnection {
    /// The present permissions of the user; in flexible sync roles decide.
    func rules(for partition: Partition?) async throws -> AccessRules {
        let app = app
        guard let partition, app.gate != nil else { return app.access }
        return try await service.engine.rules(of: app, for: user.id, to: partition)
    }
}

// MARK: Failures of the store

extension SyncConnection {
    /// Retries while it is not the client's fault that the store cannot be used.
    func retryWhileAway<Result>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await StoreRetry.run(on: self, body)
    }

    /// Ends the session with an error of its work; if the store is not the one that the client was told
    /// of, the connection, so that IDENT is checked again.
    func fail(_ key: SessionKey, _ error: any Error) {
        guard let error = error as? StoreError, error.kind == .changed else {
            return fail(key, SessionFailure(error))
        }
        logger.warning(
            "the store has changed",
            metadata: ["code": "\(error.code)", "reason": "\(error)"]
        )
        leaveConnection(key, .goingAway, "the store has changed")
    }

    /// Ends the connection of a session that must not integrate anything more. If the session has ended,
    /// its client has reconnected, and will send its uploads again.
    func leaveConnection(_ key: SessionKey, _ code: CloseCode, _ reason: String) {
        work.fail(key)
        guard let current = work[key], !current.hasEnded else { return }
        end(code, reason: reason)
    }
}
