import ServerAccounts
import ServerStore
import SyncServer

extension ServiceRefusal {
    /// The refusal of a call that failed with an error; nil if the server is at fault.
    init?(_ error: any Error) {
        switch error {
        case let refusal as ServiceRefusal: self = refusal
        case let refusal as AccountRefusal: self.init(refusal)
        case let refusal as ComparisonRefusal: self.init(refusal)
        case is AccessUndecided:
            self.init(
                .maintenanceInProgress,
                "permissions cannot be decided now",
                retryAfterInSeconds: 2
            )
        case let error as StoreError where error.kind == .unacceptable: self = .unacceptable
        default: return nil
        }
    }

    /// The one table from refusals to the forms that clients read (app services, 11.3).
    init(_ refusal: AccountRefusal) {
        switch refusal {
        case .appNotFound: self = .appNotFound
        case .syncPaused: self.init(.maintenanceInProgress, "sync of this app is paused")
        case .providerOff(let provider): self = .providerNotFound(provider.rawValue)

        case .tooManyFailures(let seconds):
            self.init(limit: "too many failed log-ins", .authError, seconds)
        case .tooManyNewUsers(let seconds):
            self.init(limit: "too many new users from one address", .authError, seconds)
        case .tooManyMails(let seconds):
            self.init(limit: "too many tokens for one account", .badRequest, seconds)
        case .tooManyLogIns:
            self.init(
                .maintenanceInProgress,
                "too many log-ins at once; try again in 1 s",
                retryAfterInSeconds: 1
            )

        case .tooManyComparisons(let seconds):
            self.init(limit: "too many comparisons by one user", .badRequest, seconds)

        case .noToken: self.init(.missingAuthReq, "must authenticate first")
        case .invalidSession(let fault):
            self.init(.invalidSession, "invalid session: \(fault.text)")
        case .tokenOfOtherApp: self.init(.userAppDomainMismatch, "the token is for another app")
        // A 401 would log out every device because of a missing file.
        case .signingKeyMissing:
            self.init(.maintenanceInProgress, "the key of this token is missing")
        case .disabledUserSyncs: self.init(.userDisabled, "user disabled", status: 403)

        case .wrongPassword: self.init(.invalidPassword, "invalid username/password")
        case .notConfirmed: self.init(.authError, "confirmation required")
        case .userDisabled: self.init(.userDisabled, "user disabled")
        case .unknownKey: self.init(.apiKeyNotFound, "API key not found", status: 401)
        case .keyDisabled: self.init(.authError, "API key is disabled")
        case .badCustomToken(let reason):
            self.init(.authError, "invalid custom auth token: \(reason)")
        case .logInFunction(let failure): self.init(failure)
        case .unknownToLogInFunction:
            self.init(.authError, "the log-in function does not know this user")
        case .anonymousLink:
            self.init(.badRequest, "an anonymous identity cannot be linked")
        case .identityInUse:
            self.init(.accountNameInUse, "a user already exists with the specified provider")

        case .badUserName:
            self.init(.badRequest, "invalid username: not an e-mail address")
        case .nameInUse: self.init(.accountNameInUse, "name already in use")
        case .userNotFound: self.init(.userNotFound, "user not found")
        case .badPassword(let lengths):
            self.init(
                .badRequest,
                "password must be between \(lengths.lowerBound) and \(lengths.upperBound) characters"
            )
        case .alreadyConfirmed: self.init(.userAlreadyConfirmed, "already confirmed")
        case .confirmationRefused(let name):
            self.init(.badRequest, "failed to confirm user \"\(name.rawValue)\"")
        case .resetRefused(let name):
            self.init(.badRequest, "failed to reset password for user \"\(name.rawValue)\"")
        case .noConfirmationFunction:
            self.init(.badRequest, "there is no confirmation function")
        case .confirmedByFunction:
            self.init(.badRequest, "accounts are confirmed by a function: use confirm/call")
        case .noResetFunction:
            self.init(.badRequest, "there is no password reset function")
        case .resetByFunction:
            self.init(.badRequest, "passwords are reset by a function: use reset/call")
        case .badAccountToken: self.init(.userpassTokenInvalid, "invalid token data")
        case .mailFailed: self.init(.maintenanceInProgress, "the mail cannot be sent now")

        case .anonymousUserOfKey:
            self.init(.badRequest, "an anonymous user cannot have API keys")
        case .badKeyName:
            self.init(
                .badRequest,
                "an API key is named by 1 to 100 letters, digits, \"_\" and \"-\""
            )
        case .keyExists: self.init(.apiKeyAlreadyExists, "API key already exists")
        case .keyNotFound: self.init(.apiKeyNotFound, "API key not found")
        }
    }

    /// Of 429: the limit refills after these seconds.
    private init(limit: String, _ code: Code, _ seconds: Int) {
        self.init(
            code,
            "\(limit); try again in \(seconds) s",
            status: 429,
            retryAfterInSeconds: seconds
        )
    }

    /// It never ends an existing log-in session.
    private init(_ failure: HookRunner.Failure) {
        let message = "the log-in function failed"
        switch failure {
        case .overloaded: self.init(.maintenanceInProgress, "too many requests at once")
        case .timedOut: self.init(.executionTimeLimitExceeded, message)
        case .failed: self.init(.functionExecutionError, message)
        }
    }
}

extension ServiceRefusal {
    fileprivate init(_ refusal: ComparisonRefusal) {
        switch refusal {
        case .busy:
            self.init(
                .maintenanceInProgress,
                "another comparison is running",
                retryAfterInSeconds: 2
            )
        case .paused: self.init(.maintenanceInProgress, "sync of this app is paused")
        case .notAllowed:
            self.init(nil, "this user has no such client file, or may not read it", status: 403)
        case .badPartition: self = .missing("partition")
        }
    }
}

extension AccountRefusal.SessionFault {
    fileprivate var text: String {
        switch self {
        case .badToken: "invalid token"
        case .unknownApp: "unknown app"
        case .not(let kind): "not a \(kind.rawValue) token"
        case .expired(let kind): "\(kind.rawValue) token expired"
        case .noUser: "no such user"
        case .userDisabled: "user disabled"
        case .revoked: "session revoked"
        case .linkingNeedsToken: "linking needs the access token of a user"
        }
    }
}
