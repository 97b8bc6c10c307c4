import Testing

/// The rules, on projects made to break them.
@Suite("Rules of the architecture")
struct ArchitectureRulesTests {
    private let manifest = Manifest(
        """
        func module(_ name: String) -> Target { .target(name: name) }
        let package = Package(
            targets: [
                library("CYAML", "yaml-0.1", apt: "libyaml-dev"),
                module("Changesets", in: .core),
                module("Merge", in: .core, ["Changesets"]),
                module(
                    "Server",
                    ["Merge", nio, .product(name: "Logging", package: "swift-log")] + hummingbird
                ),
                program("realm-server", ["Server"]),
                tests("Merge", ["Server"]),
            ]
        )
        """
    )

    private func file(_ text: String, in module: String = "Merge") -> SourceFile {
        let group = module == "Merge" || module == "YAML" ? "Core/" : ""
        return SourceFile(path: "Sources/\(group)\(module)/A.swift", module: module, text: text)
    }

    @Test("The manifest's helpers are read, other products left out")
    func readingTheManifest() {
        #expect(
            manifest.dependencies == [
                "CYAML": [], "Changesets": [], "Merge": ["Changesets"], "Server": ["Merge"],
                "realm-server": ["Server"],
            ]
        )
        #expect(manifest.reachable(from: "realm-server") == ["Server", "Merge", "Changesets"])
    }

    @Test("Imports are found in all their forms, and not in comments")
    func readingImports() {
        let imports = file(
            """
            // import A
            package import B
            @testable import C
            /* import D
            import E */ import F
            import struct G.Type
            @preconcurrency public import H
            let importer = "x"
            """
        ).imports
        #expect(imports.map(\.module) == ["B", "C", "F", "G", "H"])
        #expect(imports.map(\.line) == [2, 3, 5, 6, 7])
    }

    private let page = """
        | module | one sentence | imports of ours |
        |---|---|---|
        | `Changesets` | values | – |
        | `Merge` | rebases | Changesets |
        | `Server` | serves | Merge |
        | `realm-server` | the executable | Server |

        """

    private func arrows(_ file: SourceFile, page: String) -> [String] {
        ArchitectureRules.reversedArrows([file], manifest: manifest, table: ModuleTable(page))
    }

    @Test("An import along an arrow is allowed")
    func rightArrow() {
        #expect(arrows(file("import Changesets\nimport Testing"), page: page) == [])
    }

    @Test("An import against the arrows is named with its place")
    func reversedArrow() {
        #expect(
            arrows(file("\nimport Server"), page: page) == [
                "Sources/Core/Merge/A.swift:2: Merge must not import Server: "
                    + "Package.swift has no such arrow"
            ]
        )
    }

    @Test("Page and manifest may not differ")
    func differences() {
        let changed = page.replacing("| Changesets |", with: "| YAML |")
            .replacing("| `Server` | serves | Merge |\n", with: "")
        #expect(
            arrows(file(""), page: changed) == [
                "Merge depends on Changesets in Package.swift, "
                    + "but docs/ARCHITECTURE.md has no such arrow",
                "Merge depends on YAML in docs/ARCHITECTURE.md, but not in Package.swift",
                "docs/ARCHITECTURE.md does not list Server",
            ]
        )
    }

    @Test("A path of any length from one program's half to the other's is found")
    func crossing() {
        let manifest = Manifest(
            """
            module("Server", ["Shared"]), module("Shared", ["LocalRealm"]), module("LocalRealm")
            """
        )
        #expect(
            ArchitectureRules.crossings(manifest)
                == ["Server reaches LocalRealm: agent and server never import each other"]
        )
    }

    @Test("A pure module may import pure modules, its C library, and little else")
    func impureImports() {
        let good = [
            file("import Changesets\npackage import Merge\nimport FoundationEssentials"),
            file("import CYAML", in: "YAML"),
            file("import NIOCore", in: "Transport"),
        ]
        #expect(ArchitectureRules.impureImports(good, manifest: manifest) == [])
        for module in ["Foundation", "Logging", "NIOCore", "Glibc", "SQLite", "CYAML"] {
            #expect(
                ArchitectureRules.impureImports(
                    [file("import \(module)")],
                    manifest: manifest
                ).count == 1,
                "\(module)"
            )
        }
    }

    @Test(
        "Clocks, randomness, tasks and output in a pure module are found",
        arguments: [
            "let now = Date()", "let clock = ContinuousClock()", "Int.random(in: 0..<3)",
            "var generator = SystemRandomNumberGenerator()", "values.shuffled()",
            "Task { }", "Task.detached { }", "actor Cache {", "func f() async {", "print(x)",
            "let logger: Logger", "FileManager.default",
        ]
    )
    func impureCode(line: String) {
        #expect(ArchitectureRules.impureCode([file(line)]).count == 1)
        #expect(ArchitectureRules.impureCode([file("// \(line)")]) == [])
        #expect(ArchitectureRules.impureCode([file(line, in: "Transport")]) == [])
    }

    @Test(
        "Code that only looks impure is allowed",
        arguments: [
            "Int.random(in: 0..<3, using: &random)", "NaNText.print(x)",
            "static func print(_ x: Int)", "let multitask = 1", "case asynchronous",
            "let date: Date",
        ]
    )
    func pureCode(line: String) {
        #expect(ArchitectureRules.impureCode([file(line)]) == [])
    }

    @Test("Full Foundation is found, FoundationEssentials is not")
    func forbiddenImports() {
        let files = [file("import Foundation"), file("import FoundationEssentials")]
        #expect(
            ArchitectureRules.forbiddenImports(files) == [
                "Sources/Core/Merge/A.swift:1: nothing may import Foundation: use FoundationEssentials"
            ]
        )
    }

    @Test("A type with its module's name is found, one with a longer name is not")
    func typeNames() {
        #expect(
            ArchitectureRules.typesNamedLikeTheirModule([
                file("package struct Merge {}"), file("enum MergeError {}"),
                file("final class Changesets {}"),
            ]) == ["Sources/Core/Merge/A.swift:1: a type must not bear the name of its module"]
        )
    }

    @Test(
        "A module of another package is found outside its modules, and an unknown one everywhere"
    )
    func strayForeignImports() {
        let files = [
            file("import Changesets\nimport Dispatch"), file("import NIOCore", in: "Server"),
            file("import NIOCore\nimport JWTKit"), file("import Unheard", in: "Server"),
        ]
        #expect(
            ArchitectureRules.strayForeignImports(files, manifest: manifest).map {
                $0.split(separator: " must not import ").last?.prefix { $0 != ":" }
            } == ["NIOCore", "JWTKit", "Unheard"]
        )
    }

    @Test("A continuation outside of Coordination is found")
    func strayContinuations() {
        let line = "await withCheckedContinuation { waiting.append($0) }"
        #expect(ArchitectureRules.strayContinuations([file(line)]).count == 1)
        #expect(ArchitectureRules.strayContinuations([file(line, in: "Coordination")]) == [])
        #expect(ArchitectureRules.strayContinuations([file("let continuations = 1")]) == [])
    }

    @Test("TLS without a lower bound is found")
    func oldTLS() {
        let old = [
            file("TLSConfiguration.makeClientConfiguration()"),
            file("configuration: .makeServerConfiguration("), file("HTTPClient.Configuration()"),
        ]
        #expect(ArchitectureRules.oldTLS(old).count == 3)
        let new = [
            file("var tls = TLSConfiguration.makeClientConfiguration()\ntls.minimum = .tlsv12"),
            file("HTTPClient.Configuration(tlsConfiguration: tls)"),
            file("HTTPClient.Configuration()\nHTTPClientRequest(url: \"http+unix://x\")"),
        ]
        #expect(ArchitectureRules.oldTLS(new) == [])
    }

    @Test("Placeholders are found")
    func placeholders() {
        let paths = ["Sources/Merge/Placeholder.swift", "Sources/Merge/PlaceholderText.swift"]
        #expect(ArchitectureRules.placeholders(paths).count == 1)
    }
}
