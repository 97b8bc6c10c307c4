/// An error that concerns one realm or its user.
public struct RealmError: Error, Equatable, Sendable {
    /// The source of an error.
    public enum Origin: Equatable, Sendable {
        /// The server reported it, with this number.
        case server(number: Int, Concern)
        /// The local file.
        case file
        /// The realm cannot be opened, or the user cannot log in.
        case opening
        /// The log-in of an open realm cannot be renewed.
        case logIn
    }

    /// The subject of a server's error that has a more specific event.
    public enum Concern: Equatable, Sendable {
        /// The session: it has no event of its own.
        case session
        /// A client reset, which has events of its own.
        case reset
        /// Writes that the server undid: ``RealmEvent/rejected(_:)`` follows.
        case rejectedWrites
    }

    public let origin: Origin
    /// The dotted code of `docs/errors.md`, such as `auth.logged_out`.
    public let code: String
    /// The number that the Realm SDKs give this error, if they know it.
    public let sdkCode: Int?
    /// A sentence for people.
    public let message: String
    /// Whether sync stops until an operator or program acts.
    public let isFatal: Bool
    /// URL of the server's log of the error.
    public let logURL: String?

    package init(
        _ origin: Origin,
        code: String,
        sdkCode: Int? = nil,
        message: String,
        isFatal: Bool,
        logURL: String? = nil
    ) {
        self.origin = origin
        self.code = code
        self.sdkCode = sdkCode
        self.message = message
        self.isFatal = isFatal
        self.logURL = logURL
    }
}
