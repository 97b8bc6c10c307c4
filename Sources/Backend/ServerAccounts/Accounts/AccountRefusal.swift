package import ServerStore

/// The reason for which a log-in, a token or a call about an account is refused. It knows no HTTP:
/// the API maps it to status, code and text.
package enum AccountRefusal: Error, Hashable, Sendable {
    // MARK: Apps

    case appNotFound
    /// Transient: an operator has paused or terminated sync of the app.
    case syncPaused
    case providerOff(ProviderType)

    // MARK: Limits

    case tooManyFailures(retryAfterInSeconds: Int)
    case tooManyNewUsers(retryAfterInSeconds: Int)
    /// Too many tokens were asked for one account.
    case tooManyMails(retryAfterInSeconds: Int)
    /// Too many passwords wait for their hash.
    case tooManyLogIns
    /// Too many comparisons of realms by one user.
    case tooManyComparisons(retryAfterInSeconds: Int)

    // MARK: Tokens and their sessions

    case noToken
    case invalidSession(SessionFault)
    case tokenOfOtherApp
    /// Transient: the store may have lost the key that signed the token.
    case signingKeyMissing
    /// A connection for sync by a disabled user.
    case disabledUserSyncs

    // MARK: Log-in

    /// The name is unknown, or the password is wrong: the client must not learn which.
    case wrongPassword
    case notConfirmed
    case userDisabled
    /// No key has the secret of a log-in.
    case unknownKey
    case keyDisabled
    case badCustomToken(reason: String)
    case logInFunction(HookRunner.Failure)
    case unknownToLogInFunction
    case anonymousLink
    /// Another user has the identity that was to be linked.
    case identityInUse

    // MARK: Accounts

    case badUserName
    case nameInUse
    case userNotFound
    /// With the allowed numbers of characters.
    case badPassword(ClosedRange<Int>)
    case alreadyConfirmed
    case confirmationRefused(UserName)
    case resetRefused(UserName)
    case noConfirmationFunction
    case confirmedByFunction
    case noResetFunction
    case resetByFunction
    /// The token of a confirmation or a password reset is unknown, used or expired.
    case badAccountToken
    /// Transient: the program that sends mails failed.
    case mailFailed

    // MARK: API keys

    case anonymousUserOfKey
    case badKeyName
    case keyExists
    case keyNotFound

    /// The reason for which a token does not prove a session (app services, 10.3).
    package enum SessionFault: Hashable, Sendable {
        case badToken
        case unknownApp
        case not(TokenClaims.Kind)
        case expired(TokenClaims.Kind)
        case noUser
        case userDisabled
        case revoked
        case linkingNeedsToken
    }
}

extension AccountRefusal {
    /// Whether it depends on the existence or the state of an account.
    var tellsOfAccounts: Bool {
        switch self {
        case .userNotFound, .nameInUse, .alreadyConfirmed, .mailFailed, .resetRefused,
            .confirmationRefused:
            true
        default: false
        }
    }
}
