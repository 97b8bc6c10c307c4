import BSON
import FoundationEssentials
package import JSON
import Migration
package import ServerStore

/// The report of `import users` (moving an app, 7).
package struct UserReport: Sendable {
    package internal(set) var read = 0
    package internal(set) var stored = 0
    /// Users that the store has already.
    package internal(set) var repeated = 0
    package internal(set) var anonymousSkipped = 0
    package internal(set) var pendingNotImported = 0
    package internal(set) var accountsWithoutPassword: [String] = []
    package internal(set) var logInAsBefore: [String] = []
    package internal(set) var disabled: [String] = []
    /// Users that were not stored, with the code of the reason.
    package internal(set) var refused: [(id: String, code: String)] = []
    /// Users that cannot log in, with the reason.
    package internal(set) var withoutWayIn: [String: String] = [:]

    package var json: JSONValue {
        .object([
            "read": .integer(Int64(read)), "stored": .integer(Int64(stored)),
            "repeated": .integer(Int64(repeated)),
            "anonymous_skipped": .integer(Int64(anonymousSkipped)),
            "pending_not_imported": .integer(Int64(pendingNotImported)),
            "accounts_without_password": .array(accountsWithoutPassword.map { .string($0) }),
            "log_in_as_before": .array(logInAsBefore.map { .string($0) }),
            "disabled": .array(disabled.map { .string($0) }),
            "refused": .array(refused.map { .array([.string($0.id), .string($0.code)]) }),
            "without_way_in": .object(withoutWayIn.mapValues { .string($0) }),
        ])
    }

    package var exitStatus: Int32 { refused.isEmpty && withoutWayIn.isEmpty ? 0 : 1 }
}

/// Loads users with the ids that they had.
package struct UserImport {
    private let store: any Store
    private let app: AppID
    private let now: @Sendable () -> Int64

    package init(into store: any Store, _ app: AppID, now: @escaping @Sendable () -> Int64) {
        self.store = store
        self.app = app
        self.now = now
    }

    private static let atOnce = 500
    /// Of one file, which is read whole.
    private static let fileSizeInBytes: UInt64 = 512 << 20

    package func run(_ paths: [String]) async throws -> UserReport {
        var report = UserReport()
        for path in paths {
            for page in try Self.trees(in: path).chunks(of: Self.atOnce) {
                try await load(page, &report)
            }
        }
        return report
    }

    private static func trees(in path: String) throws(MigrationFailure) -> [JSONTree] {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let size = attributes?[.size] as? UInt64 ?? 0
        guard size <= fileSizeInBytes, let data = FileManager.default.contents(atPath: path) else {
            throw MigrationFailure(
                "import.bad_source",
                "\(path) cannot be read, or has more than \(fileSizeInBytes >> 20) MiB",
                remedy: "name listings of users as JSON"
            )
        }
        let bytes = Array(data)
        do throws(JSONTreeError) {
            return try JSONTree.sequence(parsing: bytes).flatMap { $0.elements ?? [$0] }
        } catch {
            let position = error.position(in: bytes)
            throw MigrationFailure(
                "import.bad_source",
                "\(path):\(position.line):\(position.column) is not JSON: \(error)",
                remedy: "name listings of users as JSON"
            )
        }
    }

    private func load(_ trees: some Sequence<JSONTree>, _ report: inout UserReport) async throws {
        var users: [HostedUser] = []
        for tree in trees {
            if HostedUser.isPending(tree) {
                report.pendingNotImported += 1
            } else if let user = HostedUser(tree) {
                report.read += 1
                users.append(user)
            }
        }
        guard !users.isEmpty else { return }
        let (app, moment, known) = (app, now(), users)
        let outcomes = try await store.write(.accounts(app), for: .upkeep) { transaction in
            try known.map { try UserLoader(transaction, app, now: moment).load($0) }
        }
        for (user, outcome) in zip(users, outcomes) { report.note(user, outcome) }
    }
}

extension UserReport {
    fileprivate mutating func note(_ user: HostedUser, _ outcome: UserLoader.Outcome) {
        switch outcome {
        case .repeated: repeated += 1
        case .anonymous: anonymousSkipped += 1
        case .refused(let code): refused.append((user.id, code))
        case .stored(let accounts, let logsIn, let obstacle):
            stored += 1
            accountsWithoutPassword += accounts
            if logsIn { logInAsBefore.append(user.id) }
            if user.isDisabled { disabled.append(user.id) }
            if let obstacle { withoutWayIn[user.id] = obstacle }
        }
    }
}

/// Loads one user, in the caller's transaction.
private struct UserLoader {
    private let transaction: any StoreTransaction
    private let app: AppID
    private let now: Int64

    init(_ transaction: any StoreTransaction, _ app: AppID, now: Int64) {
        self.transaction = transaction
        self.app = app
        self.now = now
    }

    enum Outcome: Sendable {
        case stored(accounts: [String], logsIn: Bool, obstacle: String?)
        case repeated
        /// Without another identity it could never log in.
        case anonymous
        case refused(String)
    }

    private struct Account {
        let name: UserName
        let identity: HostedUser.Identity
    }

    func load(_ user: HostedUser) throws -> Outcome {
        guard user.id.utf8.count == 24,
            user.id.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return .refused("user.bad_id") }
        let id = UserID(user.id)
        guard try transaction.user(id, of: app) == nil else { return .repeated }
        guard !user.identities.allSatisfy({ $0.provider == "anon-user" }) else {
            return .anonymous
        }
        var accounts: [Account] = []
        var identities: [Identity] = []
        var obstacles: [String] = []
        var lacksAddress = false
        for identity in user.identities {
            switch identity.provider {
            case "local-userpass":
                guard let name = identity.email.flatMap({ UserName($0) }) else {
                    lacksAddress = true
                    continue
                }
                guard try transaction.passwordAccount(name, of: app) == nil else {
                    return .refused("user.clash")
                }
                accounts.append(Account(name: name, identity: identity))
                identities.append(
                    Identity(id: identity.id, provider: .emailPassword, email: name.rawValue)
                )
            case "custom-token":
                identities.append(Identity(id: identity.id, provider: .customToken, email: ""))
            case "custom-function":
                identities.append(Identity(id: identity.id, provider: .customFunction, email: ""))
            case "api-key": obstacles.append("api-key: create a new one for this user")
            case "anon-user": continue
            default: obstacles.append("\(identity.provider): no such provider here")
            }
        }
        if lacksAddress, identities.isEmpty { return .refused("user.no_email") }
        for identity in identities
        where try transaction.user(identifiedBy: identity.provider, identity.id, of: app) != nil {
            return .refused("user.clash")
        }
        try transaction.insert(
            User(
                id: id,
                identities: identities,
                isDisabled: false,
                kind: user.isServer ? .server : .normal,
                data: user.data
            ),
            of: app,
            at: now
        )
        if user.isDisabled { try transaction.setDisabled(true, user: id, of: app) }
        for account in accounts {
            try transaction.insert(
                PasswordAccount(identityID: account.identity.id, hash: .unusable),
                named: account.name,
                of: app,
                at: now
            )
        }
        return .stored(
            accounts: accounts.map(\.name.rawValue),
            logsIn: identities.contains { $0.provider != .emailPassword },
            obstacle: identities.isEmpty ? obstacles.first : nil
        )
    }
}

extension Array {
    fileprivate func chunks(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
