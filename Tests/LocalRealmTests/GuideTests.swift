import FoundationEssentials
import LocalRealm
import SchemaFiles
import TestSupport
import Testing

/// The commands of `docs/local-realm.md` do what the page says.
@Suite("The guide to local realms")
struct GuideTests {
    /// A fenced block, and the output that the next one shows.
    private struct Block {
        let language: String
        let line: Int
        var text = ""
        var expected = ""
    }

    private static func blocks() throws -> [Block] {
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: package.appending(path: "docs/local-realm.md"),
            encoding: .utf8
        )
        var blocks: [Block] = []
        var open: Block?
        for (number, line) in page.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            guard line.hasPrefix("```") else {
                open?.text += line + "\n"
                continue
            }
            guard let finished = open else {
                open = Block(language: String(line.dropFirst(3)), line: number + 1)
                continue
            }
            open = nil
            if finished.language == "text" {
                blocks[blocks.count - 1].expected = finished.text
            } else {
                blocks.append(finished)
            }
        }
        return blocks
    }

    @Test("Every example prints what the page says, and the agent accepts every write")
    func examples() async throws {
        let blocks = try Self.blocks()
        let yaml = try #require(blocks.first { $0.language == "yaml" })
        let (declaration, diagnostics) = SchemaFile.parse(Array(yaml.text.utf8), file: "guide")
        let declared = try #require(declaration, "\(diagnostics)")
        let fixture = try RealmFixture(declared.schema, options: declared.options)
        _ = try fixture.realm.drain()
        var executed = 0
        for block in blocks where block.language != "yaml" {
            let output =
                switch block.language {
                case "sql": try await Tool.sqlite3Session(fixture.path, block.text)
                case "python":
                    try await Tool.python(
                        fixture.path,
                        block.text.replacing("\"stock.sqlite\"", with: "path")
                    )
                default: throw UnknownLanguage(name: block.language)
                }
            #expect(output == block.expected, "docs/local-realm.md:\(block.line)")
            // As a running agent would do, moments later.
            let report = try fixture.realm.drain()
            #expect(report.rejected.isEmpty, "docs/local-realm.md:\(block.line)")
            executed += 1
        }
        #expect(executed > 20)
        let instructions: [[String]] = try fixture.history().map(\.lines)
        #expect(instructions.joined().contains { $0.hasSuffix(": views += 1") })
    }

    private struct UnknownLanguage: Error {
        let name: String
    }
}

extension String {
    fileprivate func replacing(_ text: String, with other: String) -> String {
        split(separator: text, omittingEmptySubsequences: false).joined(separator: other)
    }
}
