import SyncProtocol

/// Messages that wait for their realms, as they came: the connection reads on for the other realms while one has
/// as much to do as it may, or while a large message is inflated.
///
/// The messages of one session stay in order. While a realm takes 500 000 objects, the slowest row of a small one
/// takes 43 ms (`Benchmarks/busy.py`).
struct Inbox {
    private var waiting: [SessionIdent: [[UInt8]]] = [:]
    /// Those with waiting messages, in order of their turns.
    private(set) var sessions: [SessionIdent] = []
    /// The session whose message is being delivered.
    private var underWay: SessionIdent?
    private(set) var sizeInBytes = 0

    /// The most that is read ahead for other realms.
    static let limitInBytes = 32 << 20
    /// Larger messages take longer to inflate than to change threads.
    static let largeMessageInBytes = 16 << 10

    var isEmpty: Bool { sessions.isEmpty && underWay == nil }

    /// Whether a message must not overtake earlier ones.
    func holds(_ session: SessionIdent) -> Bool {
        underWay == session || waiting[session] != nil
    }

    mutating func append(_ message: [UInt8], for session: SessionIdent) {
        if waiting[session] == nil { sessions.append(session) }
        waiting[session, default: []].append(message)
        sizeInBytes += message.count
    }

    /// The session's next message, which is under way until `delivered`; nil if no message waits.
    mutating func takeNext(of session: SessionIdent) -> [UInt8]? {
        guard var messages = waiting.removeValue(forKey: session) else { return nil }
        sessions.removeAll { $0 == session }
        let first = messages.removeFirst()
        if !messages.isEmpty {
            waiting[session] = messages
            sessions.append(session)
        }
        sizeInBytes -= first.count
        underWay = session
        return first
    }

    mutating func delivered() {
        underWay = nil
    }
}
