import FoundationEssentials
import Testing

/// The inputs that fuzzing has kept, and the faults that it has found.
@Suite("Inputs of Fuzz")
struct ReplayTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "Tests/Corpus/Fuzz"
        )

    @Test(
        "Every kept input gives a result or an error, and fulfils the claims",
        arguments: FuzzTarget.allCases
    )
    func replay(target: FuzzTarget) throws {
        let file = Self.corpus.appending(path: "\(target.rawValue).txt")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count > 5)
        for (number, line) in lines.enumerated() {
            let input = try #require(Data(base64Encoded: String(line)), "line \(number + 1)")
            #expect(target.run(Array(input)) == [], "line \(number + 1): \(line)")
        }
    }
}
