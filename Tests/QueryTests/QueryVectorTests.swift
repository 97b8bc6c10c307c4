import Changesets
import Documents
import Query
import Schemas
import TestSupport
import Testing

@Suite(
    "Queries recorded from the reference implementation",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct QueryVectorTests {
    @Test("Queries written by hand parse, match and are written as recorded")
    func hand() throws {
        try check("hand.jsonl")
    }

    @Test("Random queries parse, match and are written as recorded")
    func random() throws {
        try check("random.jsonl")
    }

    private func check(_ file: String) throws {
        let realm = try VectorRealm.shared.get()
        let lines = try Vectors.nodes(of: "query/" + file)
        var failures: [(String, String)] = []
        for line in lines {
            let name = line["name"]?.string ?? "?"
            for failure in try RecordedQuery(line).failures(in: realm) {
                failures.append((name, failure))
            }
        }
        print("query vectors: \(lines.count) of \(file), \(failures.count) failures")
        var byKind: [String: Int] = [:]
        for (name, failure) in failures {
            let kind = "\(name.split(separator: "/")[0]) \(failure.split(separator: ":")[0])"
            byKind[kind, default: 0] += 1
        }
        for (kind, count) in byKind.sorted(by: { $0.value > $1.value }) { print("  \(count) \(kind)") }
        for (name, failure) in failures { print("FAIL \(name) \(failure)") }
        #expect(failures.isEmpty)
    }
}
