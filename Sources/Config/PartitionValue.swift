package import Changesets
import FoundationEssentials
import JSON

/// The value of a partition (wire protocol, 5.1).
package enum PartitionValue: Hashable, Sendable {
    case string(String)
    case int(Int64)
    case objectID(ObjectID)
    case uuid(UniqueID)
    case null

    /// The types that a partition key can have, null apart.
    package enum Kind: String, CaseIterable, Sendable {
        case string
        case int
        case objectID = "object_id"
        case uuid
    }

    /// Nil if the text is none of the kind's.
    package init?(_ text: String, kind: Kind) {
        let value: PartitionValue? =
            switch kind {
            case .string: .string(text)
            case .int: Int64(text).map(Self.int)
            case .objectID: ObjectID(text).map(Self.objectID)
            case .uuid: UniqueID(text).map(Self.uuid)
            }
        guard let value else { return nil }
        self = value
    }

    /// As BIND carries it: both ends compare it as text, so every byte counts.
    package var canonicalExtendedJSON: String {
        switch self {
        case .string(let value): JSONString.quoted(value)
        case .int(let value): #"{"$numberLong":"\#(value)"}"#
        case .objectID(let value): #"{"$oid":"\#(value)"}"#
        case .uuid(let value):
            #"{"$binary":{"base64":"\#(Data(value.bytes).base64EncodedString())","subType":"04"}}"#
        case .null: "null"
        }
    }
}
