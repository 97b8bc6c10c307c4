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
    package var tokens: TokenLifetimes

    package init(
        id: AppID,
        partitionType: PartitionType? = nil,
        isDevelopmentMode: Bool = false,
        allowsClientRecovery: Bool = true,
        anonymous: Bool = false,
        emailPassword: EmailPasswordConfiguration? = nil,
        tokens: TokenLifetimes = TokenLifetimes()
    ) {
        self.id = id
        self.partitionType = partitionType
        self.isDevelopmentMode = isDevelopmentMode
        self.allowsClientRecovery = allowsClientRecovery
        self.anonymous = anonymous
        self.emailPassword = emailPassword
        self.tokens = tokens
    }
}

extension AppConfiguration {
    /// Those that are on.
    var providers: [ProviderType] {
        var providers: [ProviderType] = []
        if anonymous { providers.append(.anonymous) }
        if emailPassword != nil { providers.append(.emailPassword) }
        return providers
    }
}

package struct EmailPasswordConfiguration: Hashable, Sendable {
    /// Characters a password has at least.
    package var minimumLength: Int

    package init(minimumLength: Int = 6) {
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
