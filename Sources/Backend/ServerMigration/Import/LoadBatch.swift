import Changesets
import Documents
import Scopes

/// Some objects on their way into the store: one transaction (moving an app, 6.4).
struct LoadBatch: Sendable {
    struct Item: Sendable {
        let object: ObjectReference
        let partition: Partition
        let document: Document
        /// The document in the declared schema's form.
        let json: [UInt8]
        /// Of the report, for the outcome.
        let owner: Int
    }

    /// The fate of an item.
    enum Outcome: Sendable {
        case created
        case updated
        case moved
        /// The store has it as the source has it.
        case unchanged
        /// A client changed it.
        case kept
    }

    private(set) var items: [Item] = []
    private(set) var sizeInBytes = 0
    /// Whether two items may be of one object.
    private(set) var mayRepeat = false

    static let mostItems = 8192
    static let mostBytes = 8 << 20

    /// - Parameter isRepeated: whether the run has had the object before.
    mutating func append(_ item: Item, isRepeated: Bool) {
        items.append(item)
        mayRepeat = mayRepeat || isRepeated
        sizeInBytes += item.json.count + 64
    }

    func isFull(at mostItems: Int) -> Bool {
        items.count >= mostItems || sizeInBytes >= Self.mostBytes
    }
}
