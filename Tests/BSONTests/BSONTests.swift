import BSON
import Changesets
import TestSupport
import Testing

@Suite("BSON")
struct BSONTests {
    /// One value of each type.
    private static let all: BSONDocument = {
        var document = BSONDocument()
        let id = ObjectID("0102030405060708090a0b0c") ?? .zero
        let values: [BSONValue] = [
            .double(-0.0), .double(.nan), .double(.infinity), .string("zo\u{eb}\0x"), .string(""),
            .document(BSONDocument([BSONField(name: "a", value: .null)])),
            .array([.int32(1), .array([]), .document(BSONDocument())]),
            .binary(subtype: 0, []), .binary(subtype: 2, [1, 0, 0, 0, 9]), .undefined,
            .objectID(id), .bool(true), .bool(false), .date(-1), .date(.max), .date(.min), .null,
            .regularExpression(pattern: "a.*", options: "im"),
            .pointer(collection: "db.c", id), .code("x()"), .symbol("s"),
            .codeWithScope("y", BSONDocument([BSONField(name: "z", value: .int32(3))])),
            .int32(.min), .timestamp(1 << 32 | 7), .int64(.min), .int64(.max),
            .decimal(Decimal128(high: 0x3040_0000_0000_0000, low: 5)), .minKey, .maxKey,
        ]
        for (index, value) in values.enumerated() { document.append(Text("f\(index)"), value) }
        return document
    }()

    @Test("A value of each type survives both ways, and as canonical Extended JSON")
    func roundTrip() throws {
        #expect(try BSONDocument(decoding: Self.all.encoded()) == Self.all)
        var text = ExtendedJSONText()
        text.write(Self.all)
        // Extended JSON has one NaN.
        let again = try BSONDocument(extendedJSON: JSONTree(parsing: text.bytes))
        #expect(again == Self.all)
    }

    @Test("Damaged bytes are read or rejected, and never trap", arguments: 0..<20)
    func fuzzing(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let good = Self.all.encoded()
        for _ in 0..<500 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes.removeSubrange(place...)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                }
                if bytes.isEmpty { break }
            }
            guard let document = try? BSONDocument(decoding: bytes) else { continue }
            var text = ExtendedJSONText()
            text.write(document)
            _ = try? BSONDocument(decoding: document.encoded())
        }
    }

    @Test("Damaged JSON is read or rejected, and never traps", arguments: 0..<20)
    func fuzzingText(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var text = ExtendedJSONText(seed % 2 == 0 ? .canonical : .relaxed)
        text.write(Self.all)
        for _ in 0..<500 {
            var bytes = text.bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(place...)
                default: bytes.insert(contentsOf: Array("{\"$date".utf8), at: place)
                }
            }
            guard let tree = try? JSONTree(parsing: bytes) else { continue }
            _ = try? BSONDocument(extendedJSON: tree)
        }
    }

    @Test("Nesting ends at 200 levels, in bytes and in text")
    func nesting() throws {
        func nested(_ depth: Int) -> BSONDocument {
            var document = BSONDocument()
            for _ in 1..<depth {
                document = BSONDocument([BSONField(name: "d", value: .document(document))])
            }
            return document
        }
        #expect(try BSONDocument(decoding: nested(200).encoded()) == nested(200))
        #expect(throws: BSONError.self) { try BSONDocument(decoding: nested(201).encoded()) }
        let text = { (depth: Int) in
            Array(
                (String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8
            )
        }
        #expect(throws: Never.self) { try JSONTree(parsing: text(200)) }
        #expect(throws: JSONTreeError.self) { try JSONTree(parsing: text(201)) }
    }

    @Test(
        "Text that is not Extended JSON is rejected",
        arguments: [
            #"{"a":{"$oid":"0000000000000000000000x1"}}"#, #"{"a":{"$date":"soon"}}"#,
            #"{"a":{"$date":"2021-02-29T00:00:00Z"}}"#, #"{"a":{"$date":"2020-04-31T00:00:00Z"}}"#,
            #"{"a":{"$numberLong":"99999999999999999999"}}"#, #"{"a":99999999999999999999}"#,
            #"{"a":{"$numberInt":"3000000000"}}"#, #"{"a":{"$uuid":"x"}}"#, #"{"a":1e999}"#,
            #"{"a":{"$binary":{"base64":"!","subType":"00"}}}"#, "[1]", "\"text\"",
        ]
    )
    func rejected(text: String) throws {
        let tree = try JSONTree(parsing: Array(text.utf8))
        #expect(throws: ExtendedJSONError.self) { try BSONDocument(extendedJSON: tree) }
    }

    @Test(
        "Text that is not JSON is rejected at its place",
        arguments: [
            ("{\"a\":\n x}", 2, 2), ("{\"a\":1,\"a\":2}", 1, 8), ("{", 1, 2), ("[01]", 1, 3),
            ("{\"a\":1} 2", 1, 9), ("\"\\ud800\"", 1, 2),
        ]
    )
    func syntax(text: String, line: Int, column: Int) {
        let bytes = Array(text.utf8)
        let error = #expect(throws: JSONTreeError.self) { try JSONTree(parsing: bytes) }
        #expect(error?.position(in: bytes).line == line)
        #expect(error?.position(in: bytes).column == column)
    }

    @Test(
        "Dates of relaxed text",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2021-03-04T05:06:07.089Z", 1_614_834_367_089),
            ("2021-03-04T07:06:07.0891+02:00", 1_614_834_367_089),
            ("1969-12-31T23:59:59.999Z", -1), ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ]
    )
    func dates(text: String, milliseconds: Int64) throws {
        let tree = try JSONTree(parsing: Array("{\"$date\":\"\(text)\"}".utf8))
        #expect(try BSONValue(extendedJSON: tree) == .date(milliseconds))
    }

    @Test("A checksum is that of the public description")
    func checksum() {
        var crc = CRC64()
        crc.add(Array("123456789".utf8))
        #expect(crc.value == 0x995d_c9bb_df19_39fa)
    }
}
