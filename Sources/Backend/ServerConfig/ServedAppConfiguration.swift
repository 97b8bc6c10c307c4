package import Scopes
package import ServerStore

/// One app of `realm-server.yaml`.
package struct ServedAppConfiguration: Hashable, Sendable {
    package let id: AppID
    /// The type of every partition value; nil for any.
    package var partitionType: Partition.Kind?
    /// The property with the partition of each object: clients switch their mode by it.
    package var partitionKey: String?
    /// Whether clients may add classes and properties.
    package var isDevelopmentMode: Bool
    /// Whether values that crash some SDKs are rejected: lists and dictionaries in mixed properties.
    package var isSDKSafe: Bool
    /// Whether a client reset may recover unsynced changes.
    package var allowsClientRecovery: Bool
    package var anonymous: Bool
    /// Nil if the provider is off.
    package var emailPassword: EmailPasswordConfiguration?
    package var apiKey: Bool
    /// Nil if the provider is off.
    package var jwt: JWTConfiguration?
    /// The program that identifies users; nil if the provider is off.
    package var function: HookConfiguration?
    /// Nil if tokens contain no custom user data.
    package var customUserData: CustomUserDataConfiguration?
    package var tokens: TokenLifetimes
    /// Of partition-based sync.
    package var access: AccessRules
    /// Decides instead of rules; nil: the rules do.
    package var accessProgram: AccessProgramConfiguration?
    /// Nil: clients sync by partitions.
    package var flexible: FlexibleSyncConfiguration?
    package var quotas: UserQuotas
    /// The path of the schema file; nil if only clients define the schema.
    package var schemaFile: String?
    /// Client files absent for longer start over; nil: none does.
    package var offlineLimit: Duration?
    package var views: ViewPlace

    package init(
        id: AppID,
        partitionType: Partition.Kind? = nil,
        partitionKey: String? = nil,
        isDevelopmentMode: Bool = false,
        isSDKSafe: Bool = false,
        allowsClientRecovery: Bool = true,
        anonymous: Bool = false,
        emailPassword: EmailPasswordConfiguration? = nil,
        apiKey: Bool = false,
        jwt: JWTConfiguration? = nil,
        function: HookConfiguration? = nil,
        customUserData: CustomUserDataConfiguration? = nil,
        tokens: TokenLifetimes = TokenLifetimes(),
        access: AccessRules = AccessRules(),
        accessProgram: AccessProgramConfiguration? = nil,
        flexible: FlexibleSyncConfiguration? = nil,
        quotas: UserQuotas = .standard,
        schemaFile: String? = nil,
        offlineLimit: Duration? = Self.usualOfflineLimit,
        views: ViewPlace = .usual
    ) {
        self.id = id
        self.partitionType = partitionType
        self.partitionKey = partitionKey
        self.isDevelopmentMode = isDevelopmentMode
        self.isSDKSafe = isSDKSafe
        self.allowsClientRecovery = allowsClientRecovery
        self.anonymous = anonymous
        self.emailPassword = emailPassword
        self.apiKey = apiKey
        self.jwt = jwt
        self.function = function
        self.customUserData = customUserData
        self.tokens = tokens
        self.access = access
        self.accessProgram = accessProgram
        self.flexible = flexible
        self.quotas = quotas
        self.schemaFile = schemaFile
        self.offlineLimit = offlineLimit
        self.views = views
    }
}

extension ServedAppConfiguration {
    /// 30 days (app services, 12.2).
    package static let usualOfflineLimit = Duration.seconds(30 * 86_400)

    /// Takes an operator's rules. Where there are any, they decide instead of a program.
    package mutating func use(_ rules: AccessRules) {
        access = rules
        if rules != AccessRules() { accessProgram = nil }
    }

    package var offlineLimitInMilliseconds: Int64? {
        offlineLimit.map { $0.components.seconds * 1000 }
    }

    /// The schema of the app's typed views in a store on PostgreSQL; nil: there are none.
    package var viewSchema: String? {
        switch views {
        case .usual: NameText.viewSchema(of: id)
        case .off: nil
        case .schema(let name): name
        }
    }

    /// The enabled providers.
    package var providers: [ProviderType] {
        var providers: [ProviderType] = []
        if anonymous { providers.append(.anonymous) }
        if emailPassword != nil { providers.append(.emailPassword) }
        if apiKey { providers.append(.apiKey) }
        if jwt != nil { providers.append(.customToken) }
        if function != nil { providers.append(.customFunction) }
        return providers
    }
}

/// The schema of the typed views of an app's objects, in a store on PostgreSQL.
package enum ViewPlace: Hashable, Sendable {
    /// In a schema that is named after the app.
    case usual
    case off
    case schema(String)
}

package struct EmailPasswordConfiguration: Hashable, Sendable {
    /// Whether registration confirms an account. Otherwise the owner confirms it with the delivered
    /// token, or the function or the operator does.
    package var confirmsAtOnce: Bool
    /// The least number of characters of a password.
    package var minimumLength: Int
    /// Delivers tokens; nil: the operator does.
    package var mail: MailConfiguration?
    /// Decides on new accounts; then no mail is sent for them.
    package var confirmationFunction: HookConfiguration?
    /// Decides on new passwords; then no mail is sent for them.
    package var resetFunction: HookConfiguration?
    /// Whether responses do not tell whether an account exists.
    package var hidesAccounts: Bool

    package init(
        confirmsAtOnce: Bool = true,
        minimumLength: Int = 6,
        mail: MailConfiguration? = nil,
        confirmationFunction: HookConfiguration? = nil,
        resetFunction: HookConfiguration? = nil,
        hidesAccounts: Bool = false
    ) {
        self.confirmsAtOnce = confirmsAtOnce
        self.minimumLength = minimumLength
        self.mail = mail
        self.confirmationFunction = confirmationFunction
        self.resetFunction = resetFunction
        self.hidesAccounts = hidesAccounts
    }

    package static let maximumLength = 128
}
