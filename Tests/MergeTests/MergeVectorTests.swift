import Changesets
import Documents
import Schemas
import TestSupport
import Testing

@testable import Merge

/// Every recorded merge of the reference engine: both sides byte for byte, and the final state of
/// both peers.
@Suite(
    "Transform vectors",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not there")
)
struct MergeVectorTests {
    /// All files of the folder, so that more files of this form need no change here.
    static func files() throws -> [String] {
        try Vectors.files(in: "transform")
            .filter { $0 != "transform/bases.jsonl" }
    }

    /// Read once for all tests.
    private static let cases = Result {
        try files().flatMap { try Vectors.nodes(of: $0) }.map { try TransformCase($0) }
    }

    @Test("Both engines give the recorded changesets, and refuse what the reference refused")
    func transformedChangesets() throws {
        let cases = try Self.cases.get()
        for line in cases {
            try check(line, engine: .plain)
            try check(line, engine: .indexed)
        }
        #expect(!cases.isEmpty)
        print("transform vectors: \(cases.count) cases merged by both engines")
    }

    private func check(_ line: TransformCase, engine: Engine) throws {
        var (ours, theirs) = (line.local, line.remote)
        switch line.expected {
        case .refusal:
            #expect(throws: MergeError.self, "\(line.name), \(engine)") {
                try rebase(ours: &ours, theirs: &theirs, engine: engine)
            }
        case .results(let local, let remote, _):
            try rebase(ours: &ours, theirs: &theirs, engine: engine)
            #expect(hexadecimal(ours) == local, "\(line.name), local, \(engine)")
            #expect(hexadecimal(theirs) == remote, "\(line.name), remote, \(engine)")
        }
    }

    private func hexadecimal(_ operands: [MergeOperand]) -> [String] {
        operands.map { Hexadecimal.text(of: $0.changeset.encoded()) }
    }

    @Test("Both peers end in the recorded states")
    func states() throws {
        let bases = try bases()
        var checked = 0
        for line in try Self.cases.get() {
            guard case .results(_, _, let outcome) = line.expected else { continue }
            let base = try #require(bases[line.base])
            var (ours, theirs) = (line.local, line.remote)
            try rebase(ours: &ours, theirs: &theirs)
            let local = Result { try base.applying(line.local + theirs) }
            let remote = Result { try base.applying(line.remote + ours) }
            switch outcome {
            case .state(let state, let schema):
                let peer = try local.get()
                let isSame = try remote.get() == peer
                #expect(isSame, "\(line.name)")
                expect(peer, state, line.name)
                if let schema {
                    #expect(VectorStateForm.schema(of: peer) == schema, "\(line.name)")
                }
            case .states(let localState, let remoteState):
                expect(try local.get(), localState, "\(line.name), local")
                expect(try remote.get(), remoteState, "\(line.name), remote")
            case .failure:
                #expect(throws: BadInstruction.self, "\(line.name)") {
                    _ = (try local.get(), try remote.get())
                }
            }
            checked += 1
        }
        #expect(checked > 0)
        print("transform vectors: \(checked) states of both peers compared")
    }

    private func expect(_ realm: InMemoryRealm, _ expected: JSONNode, _ name: String) {
        let state = VectorStateForm.state(of: realm)
        guard state != expected else { return }
        Issue.record("\(name):\n\(state.text)\n\(expected.text)")
    }

    private func bases() throws -> [String: InMemoryRealm] {
        var bases: [String: InMemoryRealm] = [:]
        for line in try Vectors.nodes(of: "transform/bases.jsonl") {
            let name = try #require(line["name"]?.string)
            var realm = InMemoryRealm()
            for changeset in try #require(line["changesets"]?.elements) {
                let bytes = try #require(changeset.string.flatMap(Hexadecimal.bytes(of:)))
                try realm.apply(Changeset(decoding: bytes))
            }
            bases[name] = realm
        }
        return bases
    }
}

extension InMemoryRealm {
    fileprivate func applying(_ operands: [MergeOperand]) throws -> InMemoryRealm {
        var realm = self
        for operand in operands {
            try realm.apply(operand.changeset)
        }
        return realm
    }
}
