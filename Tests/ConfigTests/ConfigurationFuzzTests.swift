import Config
import FoundationEssentials
import Settings
import TestSupport
import Testing

@Suite("Configuration of arbitrary bytes")
struct ConfigurationFuzzTests {
    @Test("Damaged files bring a configuration or an error, never a trap")
    func damage() throws {
        var random = SplitMix64(seed: 11)
        let names = ConfigurationCorpusTests.names.filter { $0 != "alias-bomb.yaml" }
        for round in 0..<600 {
            let name = try #require(names.randomElement(using: &random))
            let url = ConfigurationCorpusTests.folder.appending(path: name)
            var bytes = [UInt8](try Data(contentsOf: url))
            for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 1:
                    let sign = Array("{}[]:,\n '\"&*-~$0".utf8).randomElement(using: &random) ?? 0
                    bytes.insert(sign, at: position)
                default:
                    let end = min(bytes.count, position + Int.random(in: 1...9, using: &random))
                    bytes.removeSubrange(position..<end)
                }
            }
            let result = ConfigurationParser.load(
                main: ConfigurationSource(file: "fuzz.yaml", bytes: bytes),
                inputs: ConfigurationInputs(readFile: { _ in
                    .failure(FileFailure(reason: "no"))
                })
            )
            let hasErrors = result.diagnostics.contains { $0.severity == .error }
            #expect((result.configuration == nil) == hasErrors, "round \(round), \(name)")
        }
    }
}
