/// The dependencies of each module of `Sources/` in `Package.swift`, by the names of our own
/// modules.
struct Manifest {
    /// Modules, programs and the C libraries, each with its dependencies.
    let dependencies: [String: Set<String>]
    /// The folder of `Sources/` that each is in, as the manifest's `Group` has it.
    private let groups: [String: String]

    /// Reads the calls of the manifest's own helpers: `module`, `program` and `library`.
    init(_ text: String) {
        var calls: [String: [String]] = [:]
        for match in text.matches(of: /\b(?:module|program|library)\(\s*"/) {
            let literals = Self.literals(in: text[match.range.lowerBound...])
            guard let name = literals.first else { continue }
            calls[name] = Array(literals.dropFirst())
        }
        var groups: [String: String] = [:]
        for match in text.matches(of: /"([\w-]+)",\s*in: \.(\w+)/) {
            groups[String(match.1)] = String(match.2)
        }
        self.groups = groups
        // The other literals of a library are names of Debian packages.
        let names = Set(calls.keys)
        dependencies = calls.mapValues { names.intersection($0) }
    }

    func modules(in group: String) -> Set<String> {
        Set(groups.filter { $0.value == group }.keys)
    }

    /// The string literals of a call, up to its closing parenthesis.
    private static func literals(in call: Substring) -> [String] {
        var literals: [String] = []
        var literal: String?
        var depth = 0
        for character in call {
            switch (character, literal) {
            case ("\"", .some(let text)):
                literals.append(text)
                literal = nil
            case ("\"", nil):
                literal = ""
            case (_, .some(let text)):
                literal = text + String(character)
            case ("(", nil):
                depth += 1
            case (")", nil):
                depth -= 1
                if depth == 0 { return literals }
            default:
                break
            }
        }
        return literals
    }

    /// Everything a module can reach.
    func reachable(from module: String) -> Set<String> {
        var reached: Set<String> = []
        var pending = [module]
        while let next = pending.popLast() {
            for dependency in dependencies[next, default: []]
            where reached.insert(dependency).inserted {
                pending.append(dependency)
            }
        }
        return reached
    }
}
