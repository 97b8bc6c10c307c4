/// One app of `realm-server.yaml`.
package struct AppConfiguration: Hashable, Sendable {
    package let id: AppID
    /// The type every partition value must have; nil for any.
    package var partitionType: PartitionType?
    /// Whether clients may add classes and properties.
    package var isDevelopmentMode: Bool
    /// Whether a client reset may carry unsent writes over.
    package var allowsClientRecovery: Bool
    package var anonymous: Bool
    /// Nil where the provider is off.
    package var emailPassword: EmailPasswordConfiguration?
    package var apiKey: Bool
    /// Nil where the provider is off.
    package var jwt: JWTConfiguration?
    /// The program that knows users; nil where the provider is off.
    package var function: HookConfiguration?
    /// Nil where tokens say nothing more about users.
    package var customUserData: CustomUserDataConfiguration?
    package var tokens: TokenLifetimes
    package var access: AccessRules
    package var quotas: UserQuotas
    /// The path of the schema file; nil where clients alone make the schema.
    package var schemaFile: String?
    /// Client files that were away for longer start over; nil: none has to.
    package var offlineLimit: Duration?

    package init(
        id: AppID,
        partitionType: PartitionType? = nil,
        isDevelopmentMode: Bool = false,
        allowsClientRecovery: Bool = true,
        anonymous: Bool = false,
        emailPassword: EmailPasswordConfiguration? = nil,
        apiKey: Bool = false,
        jwt: JWTConfiguration? = nil,
        function: HookConfiguration? = nil,
        customUserData: CustomUserDataConfiguration? = nil,
        tokens: TokenLifetimes = TokenLifetimes(),
        access: AccessRules = AccessRules(),
        quotas: UserQuotas = .standard,
        schemaFile: String? = nil,
        offlineLimit: Duration? = Self.usualOfflineLimit
    ) {
        self.id = id
        self.partitionType = partitionType
        self.isDevelopmentMode = isDevelopmentMode
        self.allowsClientRecovery = allowsClientRecovery
        self.anonymous = anonymous
        self.emailPassword = emailPassword
        self.apiKey = apiKey
        self.jwt = jwt
        self.function = function
        self.customUserData = customUserData
        self.tokens = tokens
        self.access = access
        self.quotas = quotas
        self.schemaFile = schemaFile
        self.offlineLimit = offlineLimit
    }
}

extension AppConfiguration {
    /// 30 days (app services, 12.2).
    package static let usualOfflineLimit = Duration.seconds(30 * 86_400)

    var offlineLimitInMilliseconds: Int64? {
        offlineLimit.map { $0.components.seconds * 1000 }
    }

    /// Those that are on.
    var providers: [ProviderType] {
        var providers: [ProviderType] = []
        if anonymous { providers.append(.anonymous) }
        if emailPassword != nil { providers.append(.emailPassword) }
        if apiKey { providers.append(.apiKey) }
        if jwt != nil { providers.append(.customToken) }
        if function != nil { providers.append(.customFunction) }
        return providers
    }
}

package struct EmailPasswordConfiguration: Hashable, Sendable {
    /// Whether accounts count as soon as they are registered. Otherwise each waits until the owner
    /// brings the token that was delivered, the function says so, or the operator confirms it.
    package var confirmsAtOnce: Bool
    /// Characters a password has at least.
    package var minimumLength: Int
    /// Delivers tokens; nil: the operator does.
    package var mail: MailConfiguration?
    /// Decides about new accounts; then no mail goes out for them.
    package var confirmationFunction: HookConfiguration?
    /// Decides about new passwords; then no mail goes out for them.
    package var resetFunction: HookConfiguration?

    package init(
        confirmsAtOnce: Bool = true,
        minimumLength: Int = 6,
        mail: MailConfiguration? = nil,
        confirmationFunction: HookConfiguration? = nil,
        resetFunction: HookConfiguration? = nil
    ) {
        self.confirmsAtOnce = confirmsAtOnce
        self.minimumLength = minimumLength
        self.mail = mail
        self.confirmationFunction = confirmationFunction
        self.resetFunction = resetFunction
    }

    package static let maximumLength = 128
}

/// What partition values of an app are.
package enum PartitionType: String, Hashable, Sendable, CaseIterable {
    case string
    case int
    case objectID = "object_id"
    case uuid
}
