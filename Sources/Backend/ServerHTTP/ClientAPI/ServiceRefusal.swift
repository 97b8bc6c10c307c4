/// The refusal of a client API call, in the form that clients read (app services, 11).
struct ServiceRefusal: Error, Hashable, Sendable {
    /// The names that this server sends, from the table of app services, 11.3.
    enum Code: String, Sendable {
        case apiKeyAlreadyExists = "APIKeyAlreadyExists"
        case apiKeyNotFound = "APIKeyNotFound"
        case accountNameInUse = "AccountNameInUse"
        case authError = "AuthError"
        case authProviderNotFound = "AuthProviderNotFound"
        case badRequest = "BadRequest"
        case executionTimeLimitExceeded = "ExecutionTimeLimitExceeded"
        case functionExecutionError = "FunctionExecutionError"
        case functionNotFound = "FunctionNotFound"
        case internalServerError = "InternalServerError"
        case invalidPassword = "InvalidPassword"
        case invalidSession = "InvalidSession"
        case maintenanceInProgress = "MaintenanceInProgress"
        case missingAuthReq = "MissingAuthReq"
        case missingParameter = "MissingParameter"
        case serviceNotFound = "ServiceNotFound"
        case userAlreadyConfirmed = "UserAlreadyConfirmed"
        case userAppDomainMismatch = "UserAppDomainMismatch"
        case userDisabled = "UserDisabled"
        case userNotFound = "UserNotFound"
        case userpassTokenInvalid = "UserpassTokenInvalid"
    }

    let status: Int
    /// Nil if no name of the table fits: clients then report an unknown error with the text.
    let code: Code?
    let message: String
    /// Of 429, and of a 503 that ends soon.
    let retryAfterInSeconds: Int?

    init(
        _ code: Code?,
        _ message: String,
        status: Int? = nil,
        retryAfterInSeconds: Int? = nil
    ) {
        self.status = status ?? code?.usualStatus ?? 400
        self.code = code
        self.message = message
        self.retryAfterInSeconds = retryAfterInSeconds
    }
}

extension ServiceRefusal.Code {
    /// A 401 or 403 in response to a token refresh logs the device out (app services, 2.6). So
    /// neither ever reports a failure of the server.
    fileprivate var usualStatus: Int {
        switch self {
        case .authError, .invalidPassword, .invalidSession, .missingAuthReq,
            .userAppDomainMismatch, .userDisabled:
            401
        case .badRequest, .executionTimeLimitExceeded, .functionExecutionError, .missingParameter,
            .userAlreadyConfirmed, .userpassTokenInvalid:
            400
        case .apiKeyNotFound, .authProviderNotFound, .functionNotFound, .serviceNotFound,
            .userNotFound:
            404
        case .accountNameInUse, .apiKeyAlreadyExists: 409
        case .internalServerError: 500
        case .maintenanceInProgress: 503
        }
    }
}

extension ServiceRefusal {
    static let appNotFound = ServiceRefusal(nil, "app not found", status: 404)
    static let routeNotFound = ServiceRefusal(nil, "no such route", status: 404)
    static let methodNotAllowed = ServiceRefusal(nil, "method not allowed", status: 405)
    static let bodyTooLarge = ServiceRefusal(nil, "request body is too large", status: 413)
    static let busy = ServiceRefusal(
        .maintenanceInProgress,
        "too many concurrent large requests",
        retryAfterInSeconds: 5
    )
    static let notJSON = ServiceRefusal(.badRequest, "the request body is not a JSON object")
    static let storage = ServiceRefusal(
        .maintenanceInProgress,
        "the store cannot be used now"
    )
    static let unacceptable = ServiceRefusal(
        .badRequest,
        "the request has values that the server cannot store"
    )
    static let unexpected = ServiceRefusal(.internalServerError, "internal server error")

    static func providerNotFound(_ name: String) -> ServiceRefusal {
        ServiceRefusal(
            .authProviderNotFound,
            "authentication provider not found: '\(name.prefix(64))'"
        )
    }

    static func missing(_ field: String) -> ServiceRefusal {
        ServiceRefusal(.missingParameter, "missing parameter: '\(field)'")
    }
}
