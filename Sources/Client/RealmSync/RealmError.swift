/// An error that concerns one realm or its user.
public struct RealmError: Error, Equatable, Sendable {
    /// Where it comes from.
    public enum Origin: Equatable, Sendable {
        /// The server reported it, with this number.
        case server(number: Int, Concern)
        /// The local file.
        case file
        /// The realm cannot be opened, or the user cannot log in.
        case opening
    }

    /// What a server's error is about, where something else tells more of it.
    public enum Concern: Equatable, Sendable {
        case session
        /// A client reset, which has events of its own.
        case reset
        /// Writes that the server undid: ``RealmEvent/rejected(_:)`` follows.
        case rejectedWrites
    }

    public let origin: Origin
    /// A word with dots, as in `docs/errors.md`.
    public let code: String
    /// The number that the Realm SDKs give this error, if they know it.
    public let sdkCode: Int?
    public let message: String
    /// Whether sync stands still until someone does something about it.
    public let isFatal: Bool
    /// Where the server keeps its log of what happened.
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
