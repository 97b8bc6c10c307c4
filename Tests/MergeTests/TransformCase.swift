import Changesets
import Documents
import Merge
import TestSupport
import Testing

/// One line of a transform vector file (the README beside the vectors defines the fields).
struct TransformCase {
    let name: String
    let base: String
    let local: [MergeOperand]
    let remote: [MergeOperand]
    let expected: Expected

    enum Expected {
        /// The merge must be refused.
        case refusal
        case results(local: [String], remote: [String], Outcome)
    }

    enum Outcome {
        /// The final state of both peers.
        case state(JSONNode, schema: JSONNode?)
        /// The reference does not converge.
        case states(local: JSONNode, remote: JSONNode)
        /// The reference refuses to apply its own merge.
        case failure
    }

    init(_ line: JSONNode) throws {
        name = try #require(line["name"]?.string)
        base = try #require(line["base"]?.string)
        local = try Self.operands(line["local"])
        remote = try Self.operands(line["remote"])
        if line["error"]?.bool == true {
            expected = .refusal
        } else {
            expected = .results(
                local: try Self.hexadecimal(line["local_transformed"]),
                remote: try Self.hexadecimal(line["remote_transformed"]),
                try Self.outcome(line)
            )
        }
    }

    private static func outcome(_ line: JSONNode) throws -> Outcome {
        if let state = line["state"] {
            return .state(state.withoutComments.inVectorOrder, schema: line["schema"])
        }
        guard let local = line["state_local"], let remote = line["state_remote"] else {
            try #require(line["apply_failed"]?.bool == true)
            return .failure
        }
        return .states(
            local: local.withoutComments.inVectorOrder,
            remote: remote.withoutComments.inVectorOrder
        )
    }

    private static func hexadecimal(_ node: JSONNode?) throws -> [String] {
        try #require(node?.elements).map { try #require($0["hex"]?.string) }
    }

    private static func operands(_ node: JSONNode?) throws -> [MergeOperand] {
        try #require(node?.elements).map { entry in
            let bytes = try #require((entry["hex"]?.string).flatMap(Hexadecimal.bytes(of:)))
            return MergeOperand(
                changeset: try Changeset(decoding: bytes),
                stamp: Stamp(
                    timestamp: try number(entry["timestamp"]),
                    fileIdent: try number(entry["file_ident"])
                )
            )
        }
    }

    private static func number(_ node: JSONNode?) throws -> UInt64 {
        UInt64(try #require(node?.integer))
    }
}
