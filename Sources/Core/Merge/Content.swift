import Changesets

/// The payload of an Update or a set instruction, comparable across string tables.
struct Content {
    /// As in the changeset: a link refers to the changeset's own table.
    var payload: Payload
    /// The target of a link; `.none` for other payloads.
    let linkedObject: ObjectNumber
    /// The position of a SetErase's string in the string buffer of its changeset.
    let bufferOffset: UInt64

    /// Same payload (merge rules, 4): numbers by IEEE or decimal equality, links by their target.
    func isSame(as other: Content) -> Bool {
        switch (payload, other.payload) {
        case (.float(let left), .float(let right)):
            left.value == right.value
        case (.double(let left), .double(let right)):
            left.value == right.value
        case (.decimal(let left), .decimal(let right)):
            left.isNumericallyEqual(to: right)
        case (.link, .link):
            linkedObject == other.linkedObject
        default:
            payload == other.payload
        }
    }

    /// Bytes that `isSame` may have to compare.
    func sizeToCompare(with other: Content) -> Int {
        switch (payload, other.payload) {
        case (.string(let left), .string(let right)):
            left.bytes.count == right.bytes.count ? left.bytes.count : 0
        case (.binary(let left), .binary(let right)):
            left.count == right.count ? left.count : 0
        default: 0
        }
    }

    /// QUIRK S-RAW (merge rules, rule 27): strings and binaries are the same if they have the same
    /// offset and length, regardless of content; links if their table indexes agree.
    func isRawEqual(to other: Content) -> Bool {
        switch (payload, other.payload) {
        case (.string(let left), .string(let right)):
            bufferOffset == other.bufferOffset && left.bytes.count == right.bytes.count
        case (.binary(let left), .binary(let right)):
            bufferOffset == other.bufferOffset && left.count == right.count
        case (.link, .link):
            payload == other.payload
        default:
            isSame(as: other)
        }
    }
}
