import BSON
import Changesets
import TestSupport
import Testing

@Suite(
    "BSON and Extended JSON of the golden exports",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct BSONVectorTests {
    /// The documents of each collection, in every form that is not an archive.
    private func collections() throws -> [(name: String, documents: [BSONDocument])] {
        try Vectors.paths(under: "migration/data").filter {
            $0.contains("/dump/") && $0.hasSuffix(".bson")
        }.map { path in
            let bytes = try Vectors.bytes(of: "migration/data/\(path)")
            return (path, try Self.documents(bytes))
        }
    }

    private static func documents(_ bytes: [UInt8]) throws -> [BSONDocument] {
        var documents: [BSONDocument] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            documents.append(try BSONDocument(decoding: rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return documents
    }

    @Test("Each document of the dumps is written as it was read")
    func binaryRoundTrip() throws {
        var count = 0
        for (name, documents) in try collections() {
            let bytes = try Vectors.bytes(of: "migration/data/\(name)")
            #expect(documents.flatMap { $0.encoded() } == bytes, "\(name)")
            count += documents.count
        }
        print("BSON vectors: \(count) documents")
        #expect(count > 50)
    }

    @Test("Canonical and relaxed lines, arrays and dumps have the same documents")
    func equalForms() throws {
        var count = 0
        for (name, documents) in try collections()
        where !documents.isEmpty && !name.contains("__realm") {
            let parts = name.split(separator: "/").map(String.init)
            guard parts.count == 4 else { continue }
            let stem = "\(parts[0])/canonical/\(parts[3].dropLast(5)).json"
            let lines = try Vectors.bytes(of: "migration/data/\(stem)")
                .split(separator: UInt8(ascii: "\n"))
            #expect(lines.count == documents.count, "\(stem)")
            for (line, document) in zip(lines, documents) {
                let tree = try JSONTree(parsing: Array(line))
                #expect(try BSONDocument(extendedJSON: tree) == document, "\(stem)")
                var text = ExtendedJSONText(.canonical)
                text.write(document)
                let again = try BSONDocument(extendedJSON: JSONTree(parsing: text.bytes))
                #expect(again == document, "\(stem)")
                var relaxed = ExtendedJSONText(.relaxed)
                relaxed.write(document)
                _ = try BSONDocument(extendedJSON: JSONTree(parsing: relaxed.bytes))
                count += 1
            }
        }
        print("Extended JSON vectors: \(count) documents")
        #expect(count > 50)
    }

    @Test("Canonical lines are written byte for byte, but for the spelling of doubles")
    func canonicalText() throws {
        var count = 0
        let paths = try Vectors.paths(under: "migration/data")
        for path in paths where path.contains("/canonical/") {
            let bytes = try Vectors.bytes(of: "migration/data/\(path)")
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                var text = ExtendedJSONText(.canonical)
                text.write(try BSONDocument(extendedJSON: JSONTree(parsing: Array(line))))
                #expect(text.bytes == Array(line), "\(path)")
                count += 1
            }
        }
        #expect(count > 50)
    }

    @Test("Damaged documents are errors, each at its place")
    func damaged() throws {
        func problem(_ name: String) throws -> BSONError? {
            do throws(BSONError) {
                _ = try BSONDocument(
                    decoding: (try? Vectors.bytes(of: "migration/bad/\(name)")) ?? []
                )
                return nil
            } catch {
                return error
            }
        }
        #expect(try problem("length.bson")?.problem == .truncated)
        #expect(try problem("huge.bson")?.problem == .badLength(0x7fff_ffff))
        #expect(try problem("type.bson") == BSONError(.unknownType(0x20), at: 4))
        #expect(try problem("deep.bson") == nil)
    }
}
