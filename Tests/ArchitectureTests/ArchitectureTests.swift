import FoundationEssentials
import Testing

/// The actual project, checked against the rules.
@Suite("Architecture")
struct ArchitectureTests {
    @Test("Imports follow the arrows of Package.swift and docs/ARCHITECTURE.md")
    func arrows() throws {
        report(
            ArchitectureRules.reversedArrows(
                try Project.sources(),
                manifest: try Project.manifest(),
                table: ModuleTable(try Project.text(of: "docs/ARCHITECTURE.md"))
            )
        )
    }

    @Test("Agent and server never import each other")
    func crossings() throws {
        report(ArchitectureRules.crossings(try Project.manifest()))
    }

    @Test("Pure modules hold no socket, file, clock, task or logger")
    func purity() throws {
        let sources = try Project.sources()
        report(ArchitectureRules.impureImports(sources, manifest: try Project.manifest()))
        report(ArchitectureRules.impureCode(sources))
    }

    @Test("Nothing imports full Foundation")
    func forbiddenImports() throws {
        report(ArchitectureRules.forbiddenImports(try Project.sources()))
    }

    @Test("The fuzz targets compile modules with the dependencies that they have in the package")
    func fuzz() throws {
        let package = Manifest(try Project.text(of: "Package.swift"))
        let fuzz = Manifest(try Project.text(of: "Fuzz/Package.swift"))
        #expect(fuzz.dependencies.count > 10)
        for (module, dependencies) in fuzz.dependencies {
            #expect(package.dependencies[module] == dependencies, "\(module)")
        }
    }

    @Test("Modules of other packages are imported only by the allowed modules")
    func foreignImports() throws {
        report(
            ArchitectureRules.strayForeignImports(
                try Project.sources(),
                manifest: try Project.manifest()
            )
        )
    }

    @Test("Tasks wait for each other with the types of Coordination")
    func continuations() throws {
        report(ArchitectureRules.strayContinuations(try Project.sources()))
    }

    @Test("All uses of TLS require 1.2 or newer")
    func tlsVersions() throws {
        report(ArchitectureRules.oldTLS(try Project.sources()))
    }

    @Test("No type has the name of its module")
    func typeNames() throws {
        report(ArchitectureRules.typesNamedLikeTheirModule(try Project.sources()))
    }

    @Test("No module is empty")
    func placeholders() throws {
        report(
            ArchitectureRules.placeholders(try Project.files(in: "Sources", suffix: ".swift"))
        )
    }

    private func report(_ violations: [String]) {
        for violation in violations { Issue.record("\(violation)") }
    }
}

/// The files of this project.
enum Project {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    static func manifest() throws -> Manifest {
        Manifest(try text(of: "Package.swift"))
    }

    /// The paths below a folder that end in the suffix, from the root of the project.
    static func files(in folder: String, suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(suffix) }
            .sorted()
            .map { "\(folder)/\($0)" }
    }

    /// The module that a path below `Sources` belongs to.
    static func module(of path: String) -> String {
        let parts = path.split(separator: "/")
        let groups: Set = ["Core", "System", "Client", "Backend"]
        return String(groups.contains(String(parts[1])) ? parts[2] : parts[1])
    }

    static func sources() throws -> [SourceFile] {
        try files(in: "Sources", suffix: ".swift").map { path in
            SourceFile(
                path: path,
                module: module(of: path),
                text: try text(of: path)
            )
        }
    }
}
