import Changesets
import Crypto
import Documents
import TestSupport
import Testing

@testable import Digests

@Suite("Digests of classes")
struct ClassDigestTests {
    private static func digest(_ number: Int) throws -> ObjectDigest {
        try #require(ObjectDigest(Array(SHA256.hash(data: Array("\(number)".utf8)))))
    }

    private static func bucket(_ number: Int) -> Int {
        ClassDigest.bucket(of: CanonicalForm.bytes(of: .int(Int64(number))))
    }

    private static func sum(_ numbers: some Sequence<Int>) throws -> ClassDigest {
        var sum = ClassDigest()
        for number in numbers { sum.add(try digest(number), in: bucket(number)) }
        return sum
    }

    @Test("The order does not matter, and an object can be taken out again")
    func order() throws {
        let all = try Self.sum(0..<1000)
        #expect(try Self.sum((0..<1000).reversed()) == all)
        var without = all
        without.remove(try Self.digest(17), in: Self.bucket(17))
        #expect(try without == Self.sum((0..<1000).filter { $0 != 17 }))
        #expect(without.differingBuckets(from: all) == [Self.bucket(17)])
        #expect(all.differingBuckets(from: all).isEmpty)
    }

    @Test("An unreadable row is not the same as no row")
    func unreadable() throws {
        var other = ClassDigest()
        other.add(.unreadable, in: 3)
        #expect(other.differingBuckets(from: ClassDigest()).count == ClassDigest.bucketCount)
    }

    @Test("Keys are spread over all buckets")
    func buckets() {
        #expect(Set((0..<20_000).map(Self.bucket)).count == ClassDigest.bucketCount)
    }

    @Test("The texts of messages are read back; others are not digests")
    func texts() throws {
        let all = try Self.sum(0..<100)
        #expect(ClassDigest(count: 100, sum: all.sumText, buckets: all.bucketText) == all)
        #expect(ClassDigest(count: -1, sum: all.sumText, buckets: all.bucketText) == nil)
        #expect(ClassDigest(count: 1, sum: "00", buckets: all.bucketText) == nil)
        #expect(ClassDigest(count: 1, sum: all.sumText, buckets: all.sumText) == nil)
        let other = String(repeating: "g", count: 64)
        #expect(ClassDigest(count: 1, sum: other, buckets: all.bucketText) == nil)
    }

    @Test("Changed objects are those of every instruction, and schema changes are noticed")
    func changedObjects() throws {
        var writer = ChangesetWriter()
        let (first, second) = (
            ObjectReference(className: "Item", key: .string("a")),
            ObjectReference(className: "Item", key: .int(2))
        )
        writer.createObject(first)
        writer.update(first, "note", to: .scalar(.string("x")))
        writer.eraseObject(second)
        var changed = ChangedObjects()
        try changed.add(writer.bytes)
        #expect(changed.objects == [first, second])
        #expect(!changed.hasSchemaChanges)
        var schema = ChangesetWriter()
        schema.addTopLevelClass("Item", primaryKey: "_id", type: .int, isNullable: false)
        try changed.add(schema.bytes)
        #expect(changed.hasSchemaChanges)
        #expect(throws: DecodeError.self) { try changed.add([0xff, 0xff]) }
    }

    @Test("Differences are found by key, with the properties")
    func differences() throws {
        func object(_ key: Int64, _ digest: Int, _ properties: String = "") throws
            -> ComparedObject
        {
            ComparedObject(key: .int(key), digest: try Self.digest(digest), properties: properties)
        }
        let (left, right) = (String(repeating: "a", count: 16), String(repeating: "b", count: 16))
        let unreadable = ComparedObject(key: .int(5), digest: .unreadable, properties: "")
        let here = try [
            object(1, 1), object(2, 2, left + left), object(3, 3), unreadable,
            ComparedObject(key: nil, digest: .unreadable, properties: ""),
        ]
        let there = try [
            object(4, 4), object(1, 1), object(2, 99, left + right),
            ComparedObject(key: .int(5), digest: .unreadable, properties: ""),
        ]
        let found = ObjectDifference.all(
            of: "Item",
            here: here,
            there: there,
            properties: ["a", "b"]
        )
        #expect(
            found.map(\.kind) == [.unreadable, .different, .extra, .missing, .unreadable]
        )
        #expect(found.map(\.key) == [nil, .int(2), .int(3), .int(4), .int(5)])
        #expect(found[1].properties == ["b"])
    }
}
