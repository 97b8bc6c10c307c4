internal import DequeModule

/// Orders of administrators that have not been announced yet (server on PostgreSQL, 6.3).
///
/// While the server is away it keeps the latest ones; processes that miss one find the change when
/// they read the database.
struct OrderOutbox: Sendable {
    private var payloads: Deque<String> = []

    static let limit = 10_000

    mutating func append(_ text: String) {
        let payload = Announcement.ordered(text).payload
        // What cannot be told is looked up.
        let isTellable = payload.utf8.count <= GrowthOutbox.payloadLimitInBytes
        if payloads.count == Self.limit { payloads.removeFirst() }
        payloads.append(isTellable ? payload : Announcement.controlled(epoch: 0).payload)
    }

    mutating func takePayloads(atMost count: Int) -> [String] {
        let taken = Array(payloads.prefix(count))
        payloads.removeFirst(taken.count)
        return taken
    }

    /// Puts back what could not be announced.
    mutating func keepAgain(_ taken: [String]) {
        payloads.insert(contentsOf: taken.suffix(Self.limit - payloads.count), at: 0)
    }
}
