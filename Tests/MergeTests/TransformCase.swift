import Changesets
import Merge
import Testing

/// One line of a transform vector file (the README beside the vectors says what the fields mean).
struct TransformCase: Decodable {
    let name: String
    let base: String
    let local: [Input]
    let remote: [Input]
    /// Whether the merge must be refused; there are no outputs then.
    let error: Bool?
    let localTransformed: [Output]?
    let remoteTransformed: [Output]?

    struct Input: Decodable {
        let timestamp: UInt64
        let fileIdent: UInt64
        let hex: String

        func operand() throws -> MergeOperand {
            let bytes = try #require(Hexadecimal.bytes(of: hex))
            return MergeOperand(
                changeset: try Changeset(decoding: bytes),
                stamp: Stamp(timestamp: timestamp, fileIdent: fileIdent)
            )
        }

        private enum CodingKeys: String, CodingKey {
            case timestamp, hex
            case fileIdent = "file_ident"
        }
    }

    struct Output: Decodable {
        let hex: String
    }

    private enum CodingKeys: String, CodingKey {
        case name, base, local, remote, error
        case localTransformed = "local_transformed"
        case remoteTransformed = "remote_transformed"
    }
}
