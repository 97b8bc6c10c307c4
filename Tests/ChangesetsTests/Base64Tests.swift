import Changesets
import FoundationEssentials
import TestSupport
import Testing

@Suite("Base64")
struct Base64Tests {
    @Test(
        "The examples of RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ]
    )
    func examples(bytes: String, text: String) {
        #expect(Base64.encode(Array(bytes.utf8)) == Array(text.utf8))
        #expect(Base64.decode(Array(text.utf8)) == Array(bytes.utf8))
    }

    @Test("Random bytes are encoded as by Foundation, and decode to themselves")
    func random() {
        var random = SplitMix64(seed: 1)
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let text = Base64.encode(bytes)
            #expect(text == Array(Data(bytes).base64EncodedString().utf8))
            #expect(Base64.decode(text) == bytes)
        }
    }

    @Test(
        "Text that no encoder writes is refused",
        arguments: [
            "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm 9", "Zm9-", "Zm9v\n",
        ]
    )
    func refused(text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }
}
