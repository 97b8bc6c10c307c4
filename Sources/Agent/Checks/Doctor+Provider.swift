import AppServices
import Config

extension Doctor {
    /// Whether the user is logged in in another way than the configuration says, which a change of the
    /// configuration does not end; nil if not.
    static func otherProvider(of user: UserConfiguration, _ account: Account?) -> Finding? {
        guard let account else { return nil }
        let configured = user.provider.nameInAppServices
        // A user whom `link` gave more identities has all of their providers.
        let providers = [account.provider] + (account.profile?.identities ?? []).map(\.providerType)
        guard !providers.contains(configured) else { return nil }
        return .warning(
            "provider",
            user.name,
            "is logged in with \(account.provider), and the configuration says \(configured)",
            remedy: "`realm-agent users link \(user.name)` keeps this user and adds the provider; "
                + "`realm-agent users logout \(user.name)`, then `realm-agent users login \(user.name)`, "
                + "makes it another user"
        )
    }
}

extension UserConfiguration.Provider {
    /// As in the bodies of App Services (app services, 4.1).
    fileprivate var nameInAppServices: String {
        switch self {
        case .anonymous: "anon-user"
        case .emailPassword: "local-userpass"
        case .apiKey: "api-key"
        case .jwt: "custom-token"
        case .function: "custom-function"
        }
    }
}
