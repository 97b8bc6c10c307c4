public import Changesets
import FoundationEssentials
import JSON

/// The value that selects a server file in partition-based sync (wire protocol, 5.1).
///
/// Two spellings of one value are the same partition.
public enum Partition: Hashable, Sendable {
    case null
    case string(Text)
    case int(Int64)
    case objectID(ObjectID)
    case uuid(UniqueID)
}

extension Partition {
    /// The one server file of an app with flexible sync.
    package static let flexible = Partition.string("realm-server:flexible")

    /// A server file of objects for the server alone: custom user data that clients never synced.
    package static let closed = Partition.string("realm-server:closed")

    /// Whether the server keeps the value for itself: no client of partition-based sync binds to it.
    package var isReserved: Bool { self == .flexible || self == .closed }

    /// Partition values whose canonical text is longer are refused.
    package static let maximumSizeInBytes = 1024

    /// Reads canonical Extended JSON of a peer or an operator; nil for other texts, and for ones
    /// that are too long.
    package init?(extendedJSON text: some Collection<UInt8>) {
        guard let partition = Partition(stored: text), partition.isShortEnough else { return nil }
        self = partition
    }

    /// Reads a partition in the store, of any length: a limit for peers must not make it
    /// unreadable.
    package init?(stored text: some Collection<UInt8>) {
        // The decoder also accepts UTF-16 and UTF-32, which it recognises by zeros or a byte order
        // mark.
        guard !text.contains(0), !text.starts(with: [0xef, 0xbb, 0xbf]),
            String(validating: text, as: UTF8.self) != nil,
            let form = try? JSONDecoder().decode(Form.self, from: Data(text)),
            let value = form.partition
        else { return nil }
        self = value
    }

    package var isShortEnough: Bool { canonicalText.utf8.count <= Self.maximumSizeInBytes }

    /// Reads an operator's text: canonical Extended JSON, or the text of a string partition.
    package init(operatorText text: String) {
        self = Partition(extendedJSON: text.utf8) ?? .string(Text(text))
    }

    /// The value in canonical Extended JSON, as in BIND and in stores: one text for one value.
    public var canonicalText: String {
        switch self {
        case .null: "null"
        case .string(let text): JSONString.quoted(text.description)
        case .int(let value): #"{"$numberLong":"\#(value)"}"#
        case .objectID(let value): #"{"$oid":"\#(value)"}"#
        case .uuid(let value):
            #"{"$binary":{"base64":"\#(Data(value.bytes).base64EncodedString())","subType":"04"}}"#
        }
    }
}

// MARK: Types

extension Partition {
    /// The possible types of a partition key; the null partition is a value of each.
    public enum Kind: String, Hashable, CaseIterable, Sendable {
        case string
        case int
        case objectID = "object_id"
        case uuid

        /// The text required for a value of the type, as a noun for messages.
        package var expected: String {
            switch self {
            case .string: "a string"
            case .int: "a whole number that fits into 64 bits"
            case .objectID: "24 hexadecimal digits"
            case .uuid: "a UUID such as 3b241101-e2bb-4255-8caf-4136c566a962"
            }
        }
    }

    /// Nil for the null partition.
    public var kind: Kind? {
        switch self {
        case .null: nil
        case .string: .string
        case .int: .int
        case .objectID: .objectID
        case .uuid: .uuid
        }
    }

    /// Reads a value of a known type; nil if the text is not one.
    public init?(_ text: String, kind: Kind) {
        let value: Partition? =
            switch kind {
            case .string: .string(Text(text))
            case .int: Int64(text).map(Self.int)
            case .objectID: ObjectID(text).map(Self.objectID)
            case .uuid: UniqueID(text).map(Self.uuid)
            }
        guard let value else { return nil }
        self = value
    }

    /// Reads an argument of a command line: `string:store-42`, `int:42`, `object_id:…`, `uuid:…` or
    /// `null`; nil for anything else.
    package init?(argument text: String) {
        guard text != "null" else {
            self = .null
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])) else { return nil }
        self.init(String(parts[1]), kind: kind)
    }
}

/// The JSON forms of a partition value.
private enum Form: Decodable {
    case null
    case string(String)
    case tagged(Tagged)

    struct Tagged: Decodable {
        struct Binary: Decodable {
            let base64: String
            let subType: String
        }

        let oid: String?
        let numberLong: String?
        let numberInt: String?
        let uuid: String?
        let binary: Binary?

        enum CodingKeys: String, CodingKey {
            case oid = "$oid"
            case numberLong = "$numberLong"
            case numberInt = "$numberInt"
            case uuid = "$uuid"
            case binary = "$binary"
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else {
            self = .tagged(try container.decode(Tagged.self))
        }
    }

    var partition: Partition? {
        switch self {
        case .null: return .null
        case .string(let text): return .string(Text(text))
        case .tagged(let value):
            if let text = value.oid { return ObjectID(text).map { .objectID($0) } }
            if let text = value.numberLong { return Int64(text).map { .int($0) } }
            if let text = value.numberInt { return Int32(text).map { .int(Int64($0)) } }
            if let text = value.uuid { return UniqueID(text).map { .uuid($0) } }
            guard let binary = value.binary, binary.subType == "04",
                let bytes = Data(base64Encoded: binary.base64)
            else { return nil }
            return UniqueID(bytes: Array(bytes)).map { .uuid($0) }
        }
    }
}
