/// The state in a log record, for subjects whose state operators follow.
///
/// The messages are listed here, like those of `MessageCatalogue`, so that the code that writes
/// them needs only a logger.
struct StateLine: Hashable {
    enum Subject: Hashable {
        /// A user's connection to the server.
        case connection
        /// Whether a user or plugin suspended the realm.
        case suspension
        /// Whether schedule, network and host let the realm sync.
        case schedule
        /// Whether the realm's user is logged in and its file is open.
        case opening
        /// Whether the server accepts the realm.
        case session
        case capture
        case clientReset
        case logIn
        case logLevel
        case configuration
        /// Whether a server reaches its database.
        case database
    }

    let subject: Subject
    /// False if an operator would want to read that it is over.
    let isWell: Bool

    private init(_ subject: Subject, isWell: Bool) {
        self.subject = subject
        self.isWell = isWell
    }

    /// Nil for a record about an event that leaves no state behind.
    init?(_ record: LogRecord) {
        if record.message == "log-in changed" {
            switch record.fields.first(where: { $0.name == "change" })?.value {
            case "logged-in": self.init(.logIn, isWell: true)
            case "logged-out", "removed", "session-ended": self.init(.logIn, isWell: false)
            default: return nil
            }
        } else if let line = Self.lines[record.message] {
            self = line
        } else {
            return nil
        }
    }

    /// Every message that reports a state.
    static let lines: [String: StateLine] = [
        "connected": StateLine(.connection, isWell: true),
        "disconnected": StateLine(.connection, isWell: true),
        "not connected": StateLine(.connection, isWell: false),
        "suspended": StateLine(.suspension, isWell: false),
        "resumed": StateLine(.suspension, isWell: true),
        "paused": StateLine(.schedule, isWell: false),
        "resumed by the schedule": StateLine(.schedule, isWell: true),
        "refresh is due": StateLine(.schedule, isWell: true),
        "realm is not open": StateLine(.opening, isWell: false),
        "realm is open": StateLine(.opening, isWell: true),
        "session suspended": StateLine(.session, isWell: false),
        "session stopped by server error": StateLine(.session, isWell: false),
        "session accepted": StateLine(.session, isWell: true),
        "local writes cannot be captured": StateLine(.capture, isWell: false),
        "local writes are captured": StateLine(.capture, isWell: true),
        "client reset started": StateLine(.clientReset, isWell: false),
        "client reset left to the owner": StateLine(.clientReset, isWell: false),
        "client reset interrupted": StateLine(.clientReset, isWell: true),
        "client reset finished": StateLine(.clientReset, isWell: true),
        "log level changed": StateLine(.logLevel, isWell: true),
        "configuration reloaded": StateLine(.configuration, isWell: true),
        "database connection lost": StateLine(.database, isWell: false),
        "database connected": StateLine(.database, isWell: true),
    ]
}

extension StateLine {
    /// One subject of one realm, user or category.
    struct Key: Hashable {
        let subject: Subject
        /// Values of the fields that name the realm, user or category; empty if the message has no
        /// subject.
        let names: [String]
    }

    func key(of record: LogRecord) -> Key {
        let fields: [String] = subject == .logLevel ? ["of"] : ["realm", "user", "copy"]
        return Key(
            subject: subject,
            names: fields.map { name in record.fields.first { $0.name == name }?.value ?? "" }
        )
    }

    /// The state as a text that is equal for equal states.
    func statement(of record: LogRecord) -> String {
        // The session number and the next attempt are not part of the state.
        record.fields.filter { $0.name != "session" && $0.name != "retry" }
            .reduce(record.message) { "\($0)\u{0}\($1.name)\u{0}\($1.value)" }
    }
}
