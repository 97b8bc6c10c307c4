import Changesets
import Testing

@testable import Server

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
        "Anything else is no partition",
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

    @Test("Texts that only look alike are different partitions")
    func composedCharacters() {
        let composed = Partition(extendedJSON: Array("\"\u{e9}\"".utf8))
        let decomposed = Partition(extendedJSON: Array("\"e\u{301}\"".utf8))
        #expect(composed != decomposed)
        #expect(composed?.canonicalText.utf8.elementsEqual("\"e\u{301}\"".utf8) == false)
    }

    @Test("A value of a kilobyte and more is refused")
    func size() {
        let text = "\"\(String(repeating: "x", count: 1022))\""
        #expect(Partition(extendedJSON: Array(text.utf8)) != nil)
        #expect(Partition(extendedJSON: Array("\(text) ".utf8)) == nil)
    }
}
