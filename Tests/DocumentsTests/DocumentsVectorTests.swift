import Changesets
import Documents
import Schemas
import TestSupport
import Testing

@Suite(
    "States recorded from the reference implementation",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct DocumentsVectorTests {
    private func lines(_ file: String) throws -> [JSONNode] {
        try Vectors.nodes(of: "transform/" + file)
    }

    private func changeset(_ hexadecimal: JSONNode?) throws -> Changeset {
        let text = try #require(hexadecimal?.string)
        return try Changeset(decoding: try #require(Hexadecimal.bytes(of: text)))
    }

    private func realm(applying changesets: [JSONNode]) throws -> InMemoryRealm {
        var realm = InMemoryRealm()
        for hexadecimal in changesets {
            try realm.apply(try changeset(hexadecimal))
        }
        return realm
    }

    private func bases() throws -> [String: InMemoryRealm] {
        var bases: [String: InMemoryRealm] = [:]
        for line in try lines("bases.jsonl") {
            let name = try #require(line["name"]?.string)
            bases[name] = try realm(applying: try #require(line["changesets"]?.elements))
        }
        return bases
    }

    private func expectState(
        _ realm: InMemoryRealm,
        _ expected: JSONNode?,
        _ comment: String
    ) {
        let state = VectorStateForm.state(of: realm)
        let expected = expected?.withoutComments.inVectorOrder
        if state != expected {
            Issue.record("\(comment):\n\(state.text)\n\(expected?.text ?? "no state")")
        }
    }

    /// One side of a case: the base, its own changesets, and the transformed ones of the other side.
    private func outcome(
        _ line: JSONNode,
        _ own: Text,
        _ transformed: Text,
        _ bases: [String: InMemoryRealm]
    ) throws -> InMemoryRealm {
        var realm = try #require(bases[line["base"]?.string ?? ""])
        let first = try #require(line[own]?.elements)
        let second = try #require(line[transformed]?.elements)
        for step in first + second {
            try realm.apply(try changeset(step["hex"]))
        }
        return realm
    }

    @Test("The changesets of every base give its schema and its state")
    func baseStates() throws {
        let lines = try lines("bases.jsonl")
        for line in lines {
            let name = line["name"]?.string ?? "?"
            let realm = try realm(applying: try #require(line["changesets"]?.elements))
            #expect(VectorStateForm.schema(of: realm) == line["schema"], "\(name)")
            expectState(realm, line["state"], name)
        }
        print("document vectors: \(lines.count) bases")
        #expect(!lines.isEmpty)
    }

    @Test(
        "Both sides of a merge reach the recorded state",
        arguments: ["hand.jsonl", "random.jsonl"]
    )
    func transformedStates(file: String) throws {
        let bases = try bases()
        var checked = 0
        for line in try lines(file) {
            let name = line["name"]?.string ?? "?"
            // Merges that are refused have no state.
            guard line["remote_transformed"] != nil else { continue }
            let local = try outcome(line, "local", "remote_transformed", bases)
            expectState(local, line["state"], name)
            if let schema = line["schema"] {
                #expect(VectorStateForm.schema(of: local) == schema, "\(name)")
            }
            let remote = try outcome(line, "remote", "local_transformed", bases)
            #expect(remote == local, "\(name)")
            checked += 1
        }
        print("document vectors: \(checked) states of \(file)")
        #expect(checked > 0)
    }

    @Test("If the reference does not converge, each side reaches its recorded state")
    func divergingStates() throws {
        let bases = try bases()
        let lines = try lines("diverging.jsonl")
        for line in lines {
            let name = line["name"]?.string ?? "?"
            if line["apply_failed"]?.bool == true {
                #expect(throws: BadInstruction.self, "\(name)") {
                    _ = try outcome(line, "local", "remote_transformed", bases)
                    _ = try outcome(line, "remote", "local_transformed", bases)
                }
                continue
            }
            let local = try outcome(line, "local", "remote_transformed", bases)
            expectState(local, line["state_local"], "\(name), local")
            let remote = try outcome(line, "remote", "local_transformed", bases)
            expectState(remote, line["state_remote"], "\(name), remote")
        }
        print("document vectors: \(lines.count) diverging cases")
        #expect(!lines.isEmpty)
    }
}
