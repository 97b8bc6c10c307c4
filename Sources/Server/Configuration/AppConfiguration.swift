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
    package var tokens: TokenLifetimes
    package var access: AccessRules
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
        tokens: TokenLifetimes = TokenLifetimes(),
        access: AccessRules = AccessRules(),
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
        self.tokens = tokens
        self.access = access
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
        return providers
    }
}

package struct EmailPasswordConfiguration: Hashable, Sendable {
    /// Whether accounts count as soon as they are registered. Otherwise each waits until the owner
    /// brings the token that the operator has delivered, or the operator confirms it.
    package var confirmsAtOnce: Bool
    /// Characters a password has at least.
    package var minimumLength: Int

    package init(confirmsAtOnce: Bool = true, minimumLength: Int = 6) {
        self.confirmsAtOnce = confirmsAtOnce
        self.minimumLength = minimumLength
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
