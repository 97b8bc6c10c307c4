import Changesets

/// The digests of a class's objects, added up: independent of their order, and any of them can be
/// taken out again.
///
/// The objects are also spread over 256 buckets by their keys, so that a difference is found without a
/// list of all objects.
package struct ClassDigest: Hashable, Sendable {
    package static let bucketCount = 256

    package private(set) var count = 0
    private var sum: [UInt64] = [0, 0, 0, 0]
    private var buckets = [UInt64](repeating: 0, count: Self.bucketCount)

    package init() {}

    /// - Parameter bucket: of the object's key.
    package mutating func add(_ digest: ObjectDigest, in bucket: Int) {
        count += 1
        for word in sum.indices { sum[word] &+= digest.words[word] }
        buckets[bucket] &+= digest.words[0]
    }

    /// Takes out an object that was added.
    package mutating func remove(_ digest: ObjectDigest, in bucket: Int) {
        count -= 1
        for word in sum.indices { sum[word] &-= digest.words[word] }
        buckets[bucket] &-= digest.words[0]
    }

    /// The bucket of a key's canonical bytes: the eight bytes of their FNV-1a hash of 64 bits, combined
    /// by exclusive or.
    package static func bucket(of key: [UInt8]) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash ^= hash >> 32
        hash ^= hash >> 16
        return Int((hash ^ hash >> 8) & 0xff)
    }

    /// The buckets in which two digests differ; all of them if only the whole does.
    package func differingBuckets(from other: ClassDigest) -> [Int] {
        guard self != other else { return [] }
        let differing = buckets.indices.filter { buckets[$0] != other.buckets[$0] }
        return differing.isEmpty ? Array(buckets.indices) : differing
    }
}

// MARK: The form in messages

extension ClassDigest {
    package var sumText: String { ObjectDigest.text(of: sum) }
    package var bucketText: String { ObjectDigest.text(of: buckets) }

    /// Nil unless the texts are as ``sumText`` and ``bucketText`` write them.
    package init?(count: Int, sum: String, buckets: String) {
        guard count >= 0, let sum = Self.words(sum, count: 4),
            let buckets = Self.words(buckets, count: Self.bucketCount)
        else { return nil }
        self.count = count
        self.sum = sum
        self.buckets = buckets
    }

    private static func words(_ text: String, count: Int) -> [UInt64]? {
        guard text.utf8.count == count * 16, let bytes = Hexadecimal.bytes(of: text) else {
            return nil
        }
        return stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}
