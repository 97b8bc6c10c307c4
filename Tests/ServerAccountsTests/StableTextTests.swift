import Testing

@testable import ServerAccounts

@Suite("Texts that are equal in all processes")
struct StableTextTests {
    private struct Settings {
        var names: Set<String>
        var limits: [String: Int?]
        var mode: Mode

        enum Mode {
            case plain
            case limited(to: Int)
        }
    }

    private func settings(_ names: [String]) -> Settings {
        Settings(
            names: Set(names),
            limits: Dictionary(uniqueKeysWithValues: names.map { ($0, $0.utf8.count) }),
            mode: .limited(to: 3)
        )
    }

    @Test("Members of sets and entries of dictionaries are in order")
    func order() {
        let names = (0..<40).map { "name \($0)" }
        // Sets of other capacities have other orders, as in another process.
        var large = settings(names)
        for count in 0..<5000 { large.names.insert("x\(count)") }
        for count in 0..<5000 { large.names.remove("x\(count)") }
        #expect(Array(large.names) != Array(settings(names).names))
        #expect(StableText.of(large) == StableText.of(settings(names.reversed())))
    }

    @Test("Each part counts")
    func parts() {
        let text = StableText.of(settings(["a", "b"]))
        #expect(text != StableText.of(settings(["a"])))
        var other = settings(["a", "b"])
        other.mode = .limited(to: 4)
        #expect(text != StableText.of(other))
        other.mode = .plain
        #expect(text != StableText.of(other))
        #expect(StableText.of("1") != StableText.of(1))
        #expect(StableText.of(Int?.none as Any) != StableText.of(0))
    }
}
