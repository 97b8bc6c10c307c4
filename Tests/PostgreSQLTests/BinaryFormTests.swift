import TestSupport
import Testing

@testable import PostgreSQL

@Suite("PostgreSQL's binary forms")
struct BinaryFormTests {
    private func read(_ bytes: [UInt8], of type: TypeID) throws(PostgreSQLError) -> [[UInt8]?] {
        var result: Result<[[UInt8]?], PostgreSQLError> = .success([])
        bytes.withUnsafeBytes { bytes in
            result = Result { () throws(PostgreSQLError) in
                var reader = try ArrayReader(bytes, of: type)
                var elements: [[UInt8]?] = []
                for _ in 0..<reader.count { elements.append(try reader.next().map { Array($0) }) }
                try reader.finish()
                return elements
            }
        }
        return try result.get()
    }

    private func written(_ value: Value) -> [UInt8] {
        var writer = BinaryWriter()
        let isPresent = writer.append(value)
        #expect(isPresent)
        return writer.bytes
    }

    @Test("The form of an array, byte by byte")
    func array() {
        #expect(
            written(.texts([Array("ab".utf8), nil])) == [
                0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 25, 0, 0, 0, 2, 0, 0, 0, 1,
                0, 0, 0, 2, 97, 98, 255, 255, 255, 255,
            ]
        )
        #expect(written(.integers([])) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20])
    }

    @Test("What is written is read")
    func roundTrip() throws {
        for seed in UInt64(0)..<200 {
            var random = SplitMix64(seed: seed)
            let elements = (0..<Int.random(in: 0...20, using: &random)).map { _ -> [UInt8]? in
                guard Bool.random(using: &random) else { return nil }
                return (0..<Int.random(in: 0...30, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            }
            #expect(try read(written(.byteStrings(elements)), of: .bytes) == elements)
        }
    }

    @Test("An array that is cut off, announces too much or has other elements throws")
    func wrongArrays() throws {
        let whole = written(.texts([Array("ab".utf8), nil]))
        for count in 0..<whole.count {
            #expect(throws: PostgreSQLError.self) {
                try read(Array(whole.prefix(count)), of: .text)
            }
        }
        #expect(throws: PostgreSQLError.self) { try read(whole, of: .bytes) }
        #expect(throws: PostgreSQLError.self) { try read(whole + [0], of: .text) }
        for (place, byte) in [(3, 2), (12, 0x7f), (12, 0xff), (15, 200), (20, 0x7f), (20, 0x80)] {
            var changed = whole
            changed[place] = UInt8(byte)
            #expect(throws: PostgreSQLError.self, "\(place)") { try read(changed, of: .text) }
        }
    }

    @Test("Arrays with changed bytes give elements or an error")
    func changedArrays() {
        let whole = written(.byteStrings([[1, 2, 3], nil, [], [255]]))
        var outcomes = (values: 0, errors: 0)
        for seed in UInt64(0)..<20_000 {
            var random = SplitMix64(seed: seed)
            var changed = whole
            for _ in 0...Int.random(in: 0...2, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] =
                    UInt8.random(in: 0...255, using: &random)
            }
            if (try? read(changed, of: .bytes)) == nil {
                outcomes.errors += 1
            } else {
                outcomes.values += 1
            }
        }
        #expect(outcomes.values > 100)
        #expect(outcomes.errors > 100)
    }
}
