import Changesets
import FoundationEssentials
import Schemas
import Scopes
import ServerAccounts
package import ServerStore
import Versions

/// The admin API's report on an app (app services, 12.3).
package struct AppReport: Codable, Hashable, Sendable {
    package let id: String
    /// `file`: declared in the configuration file. `store`: created on the admin socket.
    package let origin: String
    package let syncState: SyncState
    package let developmentMode: Bool
    package let clientRecovery: Bool
    package let providers: [String]
}

/// The admin API's report on a user, without secrets.
package struct AppUserReport: Codable, Hashable, Sendable {
    package struct Identity: Codable, Hashable, Sendable {
        package let id: String
        package let provider: String
        package let email: String?
    }

    package let id: String
    package let isDisabled: Bool
    package let identities: [Identity]

    init(_ user: User) {
        self.id = user.id.rawValue
        self.isDisabled = user.isDisabled
        self.identities = user.identities.map { identity in
            Identity(
                id: identity.id,
                provider: identity.provider.rawValue,
                email: identity.email.isEmpty ? nil : identity.email
            )
        }
    }
}

/// An account created on the admin socket: the first log-in creates its user.
package struct AccountReport: Codable, Hashable, Sendable {
    package let email: String
    package let identityId: String
}

/// A token for the operator to deliver (app services, 6.1).
package struct PendingReport: Codable, Hashable, Sendable {
    package let email: String
    package let purpose: String
    package let tokenId: String
    package let token: String
    /// Milliseconds since 1970.
    package let createdAt: Int64

    init(_ token: AccountToken) {
        self.email = token.name.rawValue
        self.purpose = token.purpose.rawValue
        self.tokenId = token.id
        self.token = token.token
        self.createdAt = token.createdAt
    }
}

/// An API key of the operator. Only the response to its creation contains the key itself.
package struct KeyReport: Codable, Hashable, Sendable {
    package let id: String
    package let name: String
    package let isDisabled: Bool
    package let key: String?

    init(_ key: APIKey, _ secret: APIKeySecret? = nil) {
        self.id = key.id
        self.name = key.name
        self.isDisabled = key.isDisabled
        self.key = secret?.text
    }
}

/// Whether this process can serve now.
struct HealthReport: Encodable {
    /// `ok` or `degraded`.
    let status: String
    /// Nil if it can.
    let reason: String?

    /// - Parameter obstacles: the reasons why it cannot serve.
    init(_ obstacles: [String]) {
        self.status = obstacles.isEmpty ? "ok" : "degraded"
        self.reason = obstacles.isEmpty ? nil : obstacles.joined(separator: "; ")
    }
}

/// The state of an app's sync, and its numbers of connections, sessions and realms.
package struct AppSyncReport: Codable, Hashable, Sendable {
    package let app: String
    package let state: SyncState
    package let acceptingClients: Bool
    package let connections: Int
    package let sessions: Int
    package let realms: Int
    /// Uploads that did not fit and were corrected, since the server started.
    package let healedUploads: Int
}

/// A switch of an app's mode: to flexible sync, or back.
package struct SyncMigration: Codable, Sendable {
    package enum Action: String, Codable, Sendable {
        case start, rollback
    }

    package let action: Action

    package init(_ action: Action) { self.action = action }
}

/// The result of a switch.
package struct SyncMigrationReport: Codable, Hashable, Sendable {
    package let app: String
    /// The mode of the files that have the objects now.
    package let mode: String
    package let objects: Int
}

/// The rules for reading and writing the partitions of an app; without a rule all users may.
package struct RulesReport: Codable, Hashable, Sendable {
    package let app: String
    package let read: String?
    package let write: String?
    /// The program that decides instead, if one does.
    package var program: String?
}

/// One server file in a list.
package struct RealmReport: Codable, Hashable, Sendable {
    /// Canonical Extended JSON.
    package let partition: String
    package let currentVersion: UInt64
    package let baseVersion: UInt64
    package let generation: UInt64
    package let historyBytes: UInt64

    init(_ file: ServerFile) {
        self.partition = file.partition.canonicalText
        self.currentVersion = file.currentVersion.rawValue
        self.baseVersion = file.baseVersion.version.rawValue
        self.generation = file.generation
        self.historyBytes = file.historySizeInBytes
    }
}

/// One server file with its classes and client files.
package struct RealmInspection: Codable, Hashable, Sendable {
    package struct Class: Codable, Hashable, Sendable {
        package let name: String
        package let objects: Int
    }

    package struct Client: Codable, Hashable, Sendable {
        package let ident: UInt64
        package let user: String
        package let clientVersion: UInt64
        package let serverVersion: UInt64
        package let lockedServerVersion: UInt64
        package let isExpired: Bool
        /// Of a generation that was terminated.
        package let isVoid: Bool
        /// Milliseconds since 1970.
        package let lastSeenAt: Int64
    }

    package let realm: RealmReport
    package let classes: [Class]
    package let clients: [Client]

    init(_ file: ServerFile, from snapshot: any StoreReading) throws(StoreError) {
        let counts = try snapshot.objectCounts(in: file.id)
        self.realm = RealmReport(file)
        self.classes = try snapshot.schema(of: file.id).classes
            .filter { !$0.isEmbedded }
            .map { Class(name: $0.name.description, objects: counts[$0.name] ?? 0) }
            .sorted { $0.name < $1.name }
        self.clients = try snapshot.clientFiles(in: file.id).map { client in
            Client(
                ident: client.ident.rawValue,
                user: client.owner.rawValue,
                clientVersion: client.upload.clientVersion.rawValue,
                serverVersion: client.upload.lastIntegratedServerVersion.rawValue,
                lockedServerVersion: client.lockedServerVersion.rawValue,
                isExpired: client.isExpired,
                isVoid: client.generation != file.generation,
                lastSeenAt: client.lastSeenAt
            )
        }
    }
}

/// JSON of the admin API: snake case, sorted, absent rather than null.
package enum AdminJSON {
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return Array(try encoder.encode(value))
    }

    package static func decode<Value: Decodable>(
        _ type: Value.Type,
        from body: [UInt8]
    ) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(body))
    }
}
