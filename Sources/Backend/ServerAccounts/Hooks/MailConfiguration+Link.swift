import ServerConfig
import ServerStore

extension MailConfiguration {
    /// The link for a mail; token and token id need no escapes.
    func link(for token: AccountToken) -> String? {
        let base =
            switch token.purpose {
            case .confirm: confirmURL
            case .reset: resetURL
            }
        return base.map { base in
            "\(base)\(base.contains("?") ? "&" : "?")token=\(token.token)&tokenId=\(token.id)"
        }
    }
}
