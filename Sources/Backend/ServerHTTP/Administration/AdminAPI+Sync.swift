import Changesets
import Scopes
import ServerAccounts
import ServerConfig
import ServerStore
import SyncServer
import Versions

extension AdminAPI {
    func syncReport(of app: AppID) async throws -> AppSyncReport {
        let served = try accounts.served(app)
        let realms = try await accounts.store.read { try $0.files(of: app).count }
        let count = await accounts.backplane.ask(app)
        return AppSyncReport(
            app: app.rawValue,
            state: served.syncState,
            acceptingClients: served.syncState == .enabled,
            connections: count.connections,
            sessions: count.sessions,
            realms: realms,
            healedUploads: sync.correctedUploads[app]
        )
    }

    /// Pausing and enabling lose nothing; only `terminateSync` terminates.
    func setSyncState(_ state: SyncState, of app: AppID) async throws {
        let served = try accounts.served(app)
        switch (served.syncState, state) {
        case (_, .terminated):
            throw ServiceRefusal(.badRequest, "only \(Self.terminationPath) terminates sync")
        case (.terminated, .paused):
            throw ServiceRefusal(.badRequest, "sync of app \(app) is terminated", status: 409)
        case (.enabled, .enabled), (.paused, .paused):
            return
        case (.enabled, .paused), (.paused, .enabled), (.terminated, .enabled):
            break
        }
        try await accounts.store.write(.app(app)) { try $0.setSyncState(state, of: app) }
        accounts.apps.setSyncState(state, of: app)
        if state == .enabled {
            accounts.backplane.changed(app)
        } else {
            accounts.backplane.control(.app(app), .pause)
        }
    }

    private static let terminationPath = "POST sync/terminate"

    /// Makes every client start over; the objects stay (app services, 12.2).
    func terminateSync(of app: AppID) async throws {
        try await restart(app) { try await sync.engine.upkeep.terminate(app) }
    }

    /// Moves the objects to the files of the other mode, and makes every client start over (flexible
    /// sync, 16.1). The app's configuration must follow before clients sync again.
    func migrateSync(
        of app: AppID,
        _ action: SyncMigration.Action
    ) async throws -> SyncMigrationReport {
        guard let property = try accounts.served(app).configuration.partitionKey else {
            throw ServiceRefusal(
                .badRequest,
                "the configuration of app \(app) does not name its sync.partition_key"
            )
        }
        let mode: SyncedMode =
            switch action {
            case .start: .flexible
            case .rollback: .partition
            }
        do {
            let count = try await restart(app, isRecordedFirst: true) {
                try await sync.engine.upkeep.switchMode(of: app, to: mode, by: Text(property))
            }
            return SyncMigrationReport(app: app.rawValue, mode: mode.rawValue, objects: count)
        } catch let obstacle as ModeSwitchObstacle {
            throw ServiceRefusal(.badRequest, "\(obstacle)", status: 409)
        }
    }

    /// - Parameter isRecordedFirst: whether no process may let clients in while the work takes place.
    private func restart<Outcome>(
        _ app: AppID,
        isRecordedFirst: Bool = false,
        _ work: () async throws -> Outcome
    ) async throws -> Outcome {
        let state = try accounts.served(app).syncState
        if isRecordedFirst {
            try await accounts.store.write(.app(app)) { try $0.setSyncState(.paused, of: app) }
        }
        // First refuse new connections; existing ones may still finish their work.
        accounts.apps.setSyncState(.terminated, of: app)
        accounts.backplane.control(.app(app), .pause)
        let outcome: Outcome
        do {
            outcome = try await work()
        } catch {
            // Nothing was terminated: all clients may sync again.
            if isRecordedFirst {
                try await accounts.store.write(.app(app)) { try $0.setSyncState(state, of: app) }
                accounts.backplane.changed(app)
            }
            accounts.apps.setSyncState(state, of: app)
            throw error
        }
        // Other processes let clients in until the store said so.
        accounts.backplane.control(.app(app), .pause)
        return outcome
    }

    /// Makes one client start over; the others continue. The next IDENT of its file gets 208.
    func resetClient(_ ident: UInt64, in partition: String, of app: AppID) async throws {
        _ = try accounts.served(app)
        let ident = FileIdent(ident)
        let file = try await sync.engine.upkeep.forget(
            ident,
            of: app,
            in: try self.partition(partition)
        )
        guard let file else {
            throw ServiceRefusal(nil, "the realm has no such client", status: 404)
        }
        accounts.backplane.control(
            .client(ClientFileID(file: file, ident: ident)),
            .rebind
        )
    }

    private func partition(_ text: String) throws(ServiceRefusal) -> Partition {
        guard let partition = Partition(extendedJSON: Array(text.utf8)) else {
            throw ServiceRefusal(.badRequest, "the partition is not canonical Extended JSON")
        }
        return partition
    }

    func realms(of app: AppID) async throws -> [RealmReport] {
        _ = try accounts.served(app)
        return try await accounts.store.read { try $0.files(of: app).map(RealmReport.init) }
    }

    func inspect(_ partition: String, of app: AppID) async throws -> RealmInspection {
        _ = try accounts.served(app)
        let partition = try self.partition(partition)
        return try await accounts.store.read { snapshot in
            guard let file = try snapshot.file(of: app, partition) else {
                throw ServiceRefusal(nil, "there is no such realm", status: 404)
            }
            return try RealmInspection(file, from: snapshot)
        }
    }
}
