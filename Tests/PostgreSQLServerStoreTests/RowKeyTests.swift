import PostgreSQLServerStore
import TestSupport
import Testing

@Suite("Keys of rows")
struct RowKeyTests {
    @Test("Up to 512 bytes the stored key is the key; above, a mark and its digest")
    func lengths() {
        let short = [UInt8](repeating: 2, count: 512)
        #expect(RowKey(storedKey: short).key == short)
        #expect(RowKey(storedKey: short).longKey == nil)
        let long = RowKey(storedKey: short + [2])
        #expect(long.key.count == 33)
        #expect(long.key.first == 0xfe)
        #expect(long.longKey == short + [2])
        #expect(long.storedKey == short + [2])
        #expect(RowKey(storedKey: []).key == [])
    }

    @Test("The digest is SHA-256")
    func digest() {
        // sha256sum of 600 times the letter a.
        let key = RowKey(storedKey: [UInt8](repeating: UInt8(ascii: "a"), count: 600)).key
        let digits = key.dropFirst().map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        #expect(
            digits.joined() == "ba35c170729417f1499e0886e7e12fcdb4ab00ad411110ae1e888c766d4ed70d"
        )
    }

    @Test("Columns of the database are accepted if they fit each other")
    func columns() {
        let long = RowKey(storedKey: [UInt8](repeating: 2, count: 600))
        #expect(RowKey(key: long.key, longKey: long.longKey) == long)
        #expect(RowKey(key: [2, 3], longKey: nil)?.storedKey == [2, 3])
        // A digest without its key, another key, a key that needs no digest.
        #expect(RowKey(key: long.key, longKey: nil) == nil)
        #expect(RowKey(key: long.key, longKey: [UInt8](repeating: 3, count: 600)) == nil)
        #expect(RowKey(key: [2, 3], longKey: [2, 3]) == nil)
        #expect(RowKey(key: [UInt8](repeating: 2, count: 513), longKey: nil) == nil)
    }

    @Test("Different keys have different columns")
    func distinct() {
        var random = SplitMix64(seed: 1)
        var keys: Set<[UInt8]> = []
        var columns: Set<[UInt8]> = []
        for _ in 0..<2000 {
            let count = Int.random(in: 500...530, using: &random)
            let key = [2] + (1..<count).map { _ in UInt8.random(in: 0...1, using: &random) }
            keys.insert(key)
            columns.insert(RowKey(storedKey: key).key)
        }
        #expect(keys.count > 1900)
        #expect(columns.count == keys.count)
    }
}
