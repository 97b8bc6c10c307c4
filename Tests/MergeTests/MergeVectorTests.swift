import Changesets
import TestSupport
import Testing

@testable import Merge

/// Every recorded merge of the reference engine, both sides byte for byte.
@Suite(
    "Transform vectors",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not there")
)
struct MergeVectorTests {
    static func files() throws -> [String] {
        try Vectors.files(in: "transform", suffixes: [".jsonl", ".jsonl.gz"])
            .filter { !$0.hasSuffix("/bases.jsonl") && !$0.hasSuffix("/bases.jsonl.gz") }
    }

    @Test("Both engines give the recorded changesets, and refuse what the reference refused")
    func transformedChangesets() throws {
        var count = 0
        for file in try Self.files() {
            for line in try Vectors.lines(TransformCase.self, of: file) {
                try check(line, engine: .plain)
                try check(line, engine: .indexed)
                count += 1
            }
        }
        #expect(count > 0)
        print("transform vectors: \(count) cases merged by both engines")
    }

    private func check(_ line: TransformCase, engine: Engine) throws {
        var ours = try line.local.map { try $0.operand() }
        var theirs = try line.remote.map { try $0.operand() }
        if line.error == true {
            #expect(throws: MergeError.self, "\(line.name), \(engine)") {
                try rebase(ours: &ours, theirs: &theirs, engine: engine)
            }
        } else {
            try rebase(ours: &ours, theirs: &theirs, engine: engine)
            #expect(
                ours.map { Hexadecimal.text(of: $0.changeset.encoded()) }
                    == line.localTransformed?.map(\.hex),
                "\(line.name), local, \(engine)"
            )
            #expect(
                theirs.map { Hexadecimal.text(of: $0.changeset.encoded()) }
                    == line.remoteTransformed?.map(\.hex),
                "\(line.name), remote, \(engine)"
            )
        }
    }
}
