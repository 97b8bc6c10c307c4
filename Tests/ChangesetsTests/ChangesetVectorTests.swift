import Changesets
import Documents
import TestSupport
import Testing

@Suite(
    "Changesets recorded from the reference implementation",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct ChangesetVectorTests {
    private func lines(_ file: String) throws -> [JSONNode] {
        try Vectors.nodes(of: "changeset/" + file)
    }

    private func bytes(_ line: JSONNode, _ field: Text) throws -> [UInt8] {
        let text = try #require(line[field]?.string)
        return try #require(Hexadecimal.bytes(of: text))
    }

    @Test("Every valid changeset decodes as described, and encodes to the same bytes")
    func valid() throws {
        let lines = try lines("valid.jsonl")
        for line in lines {
            let name = line["name"]?.string ?? "?"
            let bytes = try bytes(line, "hex")
            let changeset = try Changeset(decoding: bytes)
            #expect(VectorInstructionForm.strings(of: changeset) == line["strings"], "\(name)")
            #expect(
                VectorInstructionForm.instructions(of: changeset)
                    == line["instructions"]?.withoutComments,
                "\(name)"
            )
            let reencoded =
                line["reencoded_hex"] == nil ? bytes : try self.bytes(line, "reencoded_hex")
            #expect(changeset.encoded() == reencoded, "\(name)")
            #expect(try ReceivedChangeset(decoding: bytes).encoded() == reencoded, "\(name)")
            #expect(try Changeset(decoding: reencoded) == changeset.recounted, "\(name)")
        }
        print("changeset vectors: \(lines.count) valid")
        #expect(!lines.isEmpty)
    }

    @Test("Every malformed input is refused at an offset inside it, or read as described")
    func malformed() throws {
        let lines = try lines("malformed.jsonl")
        var refused = 0
        for line in lines {
            let name = line["name"]?.string ?? "?"
            let bytes = try bytes(line, "hex")
            let result = Result { () throws(DecodeError) in try Changeset(decoding: bytes) }
            switch (line["valid"]?.bool, result) {
            case (true, .success(let changeset)):
                #expect(
                    VectorInstructionForm.instructions(of: changeset)
                        == line["instructions"]?.withoutComments,
                    "\(name)"
                )
            case (true, .failure(let error)):
                // The changesets spec, 7, refuses these two on purpose.
                let isStricter = ["lenient/ns_negative"].contains(name)
                #expect(isStricter, "\(name): \(error)")
                expectOffset(of: error, inside: bytes, name)
            case (false, .failure(let error)):
                refused += 1
                expectOffset(of: error, inside: bytes, name)
            case (false, .success), (nil, _):
                Issue.record("\(name) is not refused")
            }
        }
        print("changeset vectors: \(lines.count) malformed, of which \(refused) must be refused")
        #expect(refused > 0)
    }

    private func expectOffset(of error: DecodeError, inside bytes: [UInt8], _ name: String) {
        #expect((0...bytes.count).contains(error.offset), "\(name): \(error)")
    }
}

extension Changeset {
    /// The same changeset with all strings announced first, so that payloads have other offsets in
    /// the string buffer (changesets spec, 8).
    fileprivate var recounted: Changeset {
        get throws { try Changeset(decoding: encoded()) }
    }
}
