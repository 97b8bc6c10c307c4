import Changesets
import Testing

@testable import Scopes

@Suite("Partition values")
struct PartitionTests {
    @Test(
        "Each type is read, and written in one canonical way",
        arguments: [
            ("\"my partition\"", "\"my partition\""), ("\"\"", "\"\""), ("null", "null"),
            ("\"a\\/b\\u00e9\"", "\"a/b\u{e9}\""),
            ("{\"$numberLong\":\"-5\"}", "{\"$numberLong\":\"-5\"}"),
            ("{\"$numberInt\":\"5\"}", "{\"$numberLong\":\"5\"}"),
            ("{\"$oid\":\"65A1f0c2e4b0a1b2c3d4e5f6\"}", "{\"$oid\":\"65a1f0c2e4b0a1b2c3d4e5f6\"}"),
            (
                "{\"$binary\":{\"base64\":\"AAECAwQFBgcICQoLDA0ODw==\",\"subType\":\"04\"}}",
                "{\"$binary\":{\"base64\":\"AAECAwQFBgcICQoLDA0ODw==\",\"subType\":\"04\"}}"
            ),
            (
                "{\"$uuid\":\"00010203-0405-0607-0809-0a0b0c0d0e0f\"}",
                "{\"$binary\":{\"base64\":\"AAECAwQFBgcICQoLDA0ODw==\",\"subType\":\"04\"}}"
            ),
        ]
    )
    func values(text: String, canonical: String) throws {
        let partition = try #require(Partition(extendedJSON: Array(text.utf8)))
        #expect(partition.canonicalText == canonical)
        #expect(Partition(extendedJSON: Array(canonical.utf8)) == partition)
    }

    @Test(
        "Other texts are not partitions",
        arguments: [
            "", "/test", "test", "5", "1.5", "true", "[]", "{}", "{\"$oid\":\"x\"}",
            "{\"$numberLong\":\"9223372036854775808\"}", "{\"$numberInt\":\"2147483648\"}",
            "{\"$numberDouble\":\"1.0\"}", "\"a\" \"b\"", "\"a",
            "{\"$binary\":{\"base64\":\"AA==\",\"subType\":\"04\"}}",
            "{\"$binary\":{\"base64\":\"AAECAwQFBgcICQoLDA0ODw==\",\"subType\":\"00\"}}",
        ]
    )
    func refused(text: String) {
        #expect(Partition(extendedJSON: Array(text.utf8)) == nil)
    }

    @Test("Similar texts are different partitions")
    func composedCharacters() {
        let composed = Partition(extendedJSON: Array("\"\u{e9}\"".utf8))
        let decomposed = Partition(extendedJSON: Array("\"e\u{301}\"".utf8))
        #expect(composed != decomposed)
        #expect(composed?.canonicalText.utf8.elementsEqual("\"e\u{301}\"".utf8) == false)
    }

    @Test("A value whose canonical text is longer than a kilobyte is refused; a stored one is read")
    func size() {
        let text = "\"\(String(repeating: "x", count: 1022))\""
        #expect(Partition(extendedJSON: Array(text.utf8)) != nil)
        #expect(Partition(extendedJSON: Array("\(text) ".utf8)) != nil)
        let long = Array("\"\(String(repeating: "x", count: 1023))\"".utf8)
        #expect(Partition(extendedJSON: long) == nil)
        #expect(Partition(stored: long)?.canonicalText.utf8.count == 1025)
        // Escapes are longer than their characters.
        let escaped = "\"\(String(repeating: "\\u0905", count: 340))\""
        #expect(Partition(extendedJSON: Array(escaped.utf8)) != nil)
        let letters = "\"\(String(repeating: "\u{905}", count: 341))\""
        #expect(Partition(extendedJSON: Array(letters.utf8)) == nil)
    }

    @Test("Only UTF-8 is read")
    func encodings() {
        let text = "\"\(String(repeating: "\u{905}", count: 100))\""
        let little = text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        let wide = text.unicodeScalars.flatMap {
            [0, 0, UInt8($0.value >> 8), UInt8($0.value & 0xff)]
        }
        let texts = [
            little, big, wide, [0xff, 0xfe] + little, [0xfe, 0xff] + big,
            [0, 0, 0xfe, 0xff] + wide, [0xef, 0xbb, 0xbf] + Array(text.utf8), [0x22, 0xff, 0x22],
            [0x22, 0xc0, 0x80, 0x22], [0x22, 0, 0x22], Array("null\0".utf8),
        ]
        for text in texts { #expect(Partition(extendedJSON: text) == nil) }
        #expect(Partition(extendedJSON: Array(text.utf8)) != nil)
    }
}
