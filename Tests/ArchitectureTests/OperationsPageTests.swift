import FoundationEssentials
import Testing

/// docs/operations.md consists of commands to copy: every block of them has a name, and
/// `scripts/prove-package.sh` runs the block of that name from the page.
@Suite("The commands of docs/operations.md")
struct OperationsPageTests {
    private struct Block {
        let name: String
        let lines: [String]
    }

    private let page: String
    private let blocks: [Block]
    private let proof: String

    init() throws {
        page = try Project.text(of: "docs/operations.md")
        blocks = Self.blocks(of: page)
        proof = try Project.files(in: "scripts", suffix: ".sh").map(Project.text).joined()
    }

    private static func blocks(of page: String) -> [Block] {
        var blocks: [Block] = []
        var open: (name: String, lines: [String])?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("```") else {
                open?.lines.append(String(text))
                continue
            }
            if let block = open {
                blocks.append(Block(name: block.name, lines: block.lines))
                open = nil
            } else {
                let words = text.dropFirst(3).split(separator: " ")
                open = (words.count == 2 && words[0] == "sh" ? String(words[1]) : "", [])
            }
        }
        return blocks
    }

    @Test("Every block has a unique name, and is run by the proof of the packages")
    func everyBlock() {
        #expect(blocks.count > 20)
        #expect(Set(blocks.map(\.name)).count == blocks.count, "a name is missing or comes twice")
        let calls = proof.split(separator: "\n").flatMap { line in
            line.split(separator: "page ", omittingEmptySubsequences: false).dropFirst().map {
                $0.prefix { $0.isLetter || $0 == "-" }
            }
        }
        for block in blocks {
            #expect(calls.contains(Substring(block.name)), "no script runs \"\(block.name)\"")
        }
    }

    @Test("A command within a sentence or a table is in a block, too")
    func inlineCommands() {
        let programs = [
            "realm-agent", "realm-server", "systemctl", "journalctl", "apt", "sqlite3",
            "systemd-creds",
        ]
        let lines = blocks.flatMap(\.lines)
        for (position, code) in page.replacing("```", with: "").split(separator: "`").enumerated()
        where !position.isMultiple(of: 2) {
            guard let program = code.split(separator: " ").first, program.count < code.count,
                programs.contains(String(program)), !code.contains("\n")
            else { continue }
            #expect(
                lines.contains { $0.hasPrefix(code) },
                "`\(code)` is not in a block that is run"
            )
        }
    }
}
