/// The reason why a call of the App Services API failed.
package enum ServiceError: Error, Sendable, Equatable {
    /// No answer; trying again later may help.
    case unreachable(UnreachableError.Kind, reason: String)
    /// The server refused the call (app services, 11.2).
    case refused(Refusal)
    /// An answer of success that cannot be used: `MissingJsonKey`, `MalformedJson` or `BadToken`.
    case unusableResponse(code: String, message: String)

    package struct Refusal: Error, Sendable, Equatable {
        /// The HTTP status: the decision to refresh or to log out hangs on it, not on the code.
        package let status: Int
        /// A name of app services, 11.3; `HTTPError` if the body carried none.
        package let code: String
        package let message: String
        package let link: String?
    }

    /// The obstacle on the way to the server; nil if it answered.
    var kind: UnreachableError.Kind? {
        guard case .unreachable(let kind, _) = self else { return nil }
        return kind
    }

    package var status: Int? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal.status
    }
}

extension ServiceError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreachable(_, let reason): reason
        case .refused(let refusal): "\(refusal.message) (\(refusal.code), HTTP \(refusal.status))"
        case .unusableResponse(let code, let message): "\(message) (\(code))"
        }
    }
}
