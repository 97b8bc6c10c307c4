import BSON

enum DocumentInput {
    static func runBSON(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let document = try? BSONDocument(decoding: bytes) else { return }
        let again = try? BSONDocument(decoding: document.encoded())
        claims.check(again == document, "a document is another one when it is read again")
        var text = ExtendedJSONText(.canonical)
        text.write(document)
        // Documents may have a name twice, and be deeper than JSON is read: it may be refused.
        runExtendedJSON(text.bytes, &claims)
    }

    static func runExtendedJSON(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let trees = try? JSONTree.sequence(parsing: bytes) else { return }
        for tree in trees {
            guard let document = try? BSONDocument(extendedJSON: tree) else { continue }
            _ = document.encoded()
        }
    }
}
