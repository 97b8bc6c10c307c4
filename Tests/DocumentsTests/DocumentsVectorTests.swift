import Changesets
import Documents
import TestSupport
import Testing

@Suite(
    "States recorded from the reference implementation",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct DocumentsVectorTests {
    private func lines(_ file: String) throws -> [JSONNode] {
        try Vectors.nodes(of: Vectors.root + "/transform/" + file)
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

    private func expectState(_ realm: InMemoryRealm, _ line: JSONNode, _ comment: String) {
        let state = VectorStateForm.state(of: realm)
        let expected = line["state"]?.withoutComments.inVectorOrder
        if state != expected {
            Issue.record("\(comment):\n\(state.text)\n\(expected?.text ?? "no state")")
        }
    }

    @Test("The changesets of every base give its schema and its state")
    func baseStates() throws {
        let lines = try lines("bases.jsonl")
        for line in lines {
            let name = line["name"]?.string ?? "?"
            let realm = try realm(applying: try #require(line["changesets"]?.elements))
            #expect(VectorStateForm.schema(of: realm) == line["schema"], "\(name)")
            expectState(realm, line, name)
        }
        print("document vectors: \(lines.count) bases")
        #expect(!lines.isEmpty)
    }

    @Test(
        "Base, local changesets and transformed remote ones give the recorded state",
        arguments: ["hand.jsonl", "random.jsonl.gz"]
    )
    func transformedStates(file: String) throws {
        let bases = try bases()
        var checked = 0
        for line in try lines(file) {
            let name = line["name"]?.string ?? "?"
            // Merges that are refused have no state.
            guard let transformed = line["remote_transformed"]?.elements else { continue }
            var realm = try #require(bases[line["base"]?.string ?? ""])
            let local = try #require(line["local"]?.elements)
            for step in local + transformed {
                try realm.apply(try changeset(step["hex"]))
            }
            expectState(realm, line, name)
            if let schema = line["schema"] {
                #expect(VectorStateForm.schema(of: realm) == schema, "\(name)")
            }
            checked += 1
        }
        print("document vectors: \(checked) states of \(file)")
        #expect(checked > 0)
    }
}
