import Changesets
import Documents
import FoundationEssentials
import TestSupport
import Testing

/// Every input gives a result: a changeset that encodes and decodes to itself, or an error with an
/// offset. `REALM_SEEDS` lengthens the runs.
@Suite("Damaged changesets")
struct ChangesetFuzzTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(Int.init) ?? 4_000

    private func check(_ bytes: [UInt8], _ comment: @autoclosure () -> String) {
        do {
            let changeset = try Changeset(decoding: bytes)
            let encoded = changeset.encoded()
            let again = try Changeset(decoding: encoded)
            #expect(again.encoded() == encoded, "\(comment())")
            let received = try ReceivedChangeset(decoding: bytes)
            #expect(received.changeset == changeset, "\(comment())")
            #expect(received.encoded() == encoded, "\(comment())")
            let changesSchema = changeset.instructions.contains { $0.isAboutSchema }
            #expect(received.changesSchema == changesSchema, "\(comment())")
            #expect(Changeset.mayChangeSchema(bytes) == changesSchema, "\(comment())")
            #expect(again.instructions.count == changeset.instructions.count, "\(comment())")
        } catch {
            #expect((0...bytes.count).contains(error.offset), "\(comment()): \(error)")
        }
    }

    /// A changeset with every kind of instruction and payload.
    private static let sample: [UInt8] = {
        var writer = ChangesetWriter()
        let object = ObjectReference(className: "Class", key: .string("key"))
        writer.addEmbeddedClass("Embedded")
        writer.addTopLevelClass("Class", primaryKey: "_id", type: .string, isNullable: false)
        writer.addColumn(
            "links",
            to: "Class",
            type: .link,
            isNullable: true,
            collection: .dictionary,
            linkTarget: "Class"
        )
        writer.createObject(object)
        let scalars: [Scalar] = [
            .null, .int(-77_777), .bool(true), .string("text"), .binary([1, 2, 3]),
            .timestamp(.epoch), .float(FloatBits(1.5)), .double(DoubleBits(-0.1)),
            .decimal(.zero), .link(object), .objectID(.zero), .uuid(.zero),
        ]
        for scalar in scalars {
            writer.update(object, "any", path: [.string("a.b")], to: .scalar(scalar))
            writer.arrayInsert(object, "list", path: [.index(0)], .scalar(scalar), priorSize: 300)
            writer.setInsert(object, "set", scalar)
            writer.setErase(object, "set", scalar)
        }
        writer.updateElement(object, "list", path: [.index(1)], to: .list, priorSize: 70)
        writer.addInteger(object, "count", amount: .min)
        writer.arrayMove(object, "list", path: [.index(1)], to: 2, priorSize: 3)
        writer.arrayErase(object, "list", path: [.index(1)], priorSize: 3)
        writer.clear(object, "list", .list)
        writer.eraseObject(object)
        return writer.bytes
    }()

    @Test("Truncated at every byte")
    func truncation() {
        for length in 0...Self.sample.count {
            check(Array(Self.sample[..<length]), "cut at \(length)")
        }
    }

    @Test("With every single bit flipped")
    func bitFlips() {
        for position in Self.sample.indices {
            for bit in 0..<8 {
                var bytes = Self.sample
                bytes[position] ^= 1 << bit
                check(bytes, "bit \(bit) of byte \(position)")
            }
        }
    }

    @Test("With bytes changed, removed, repeated and added at random")
    func mutations() {
        for seed in 0..<UInt64(Self.rounds) {
            var random = SplitMix64(seed: seed)
            var bytes = Self.sample
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: position)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: position)
                default:
                    let end = min(position + 9, bytes.count)
                    bytes.insert(contentsOf: bytes[position..<end], at: position)
                }
            }
            check(bytes, "seed \(seed)")
        }
    }

    @Test("Made of random bytes")
    func noise() {
        for seed in 0..<UInt64(Self.rounds) {
            var random = SplitMix64(seed: seed)
            let count = Int.random(in: 0...40, using: &random)
            // Small numbers are more often meaningful than large ones.
            let bytes = (0..<count).map { _ in
                UInt8.random(in: 0...(Bool.random(using: &random) ? 15 : 255), using: &random)
            }
            check(bytes, "seed \(seed)")
        }
    }

    @Test("A declared length beyond the input allocates nothing")
    func declaredLengths() {
        for text in [
            "3f00ffffffffffffffff3f", "3f0001543f010166040001010100 04ffffffffffffffff3f",
            "3f0001543f01016604000101 01ffffffff0f",
        ] {
            let bytes = Hexadecimal.bytes(of: text.filter { $0 != " " }) ?? []
            #expect(throws: DecodeError.self) { try Changeset(decoding: bytes) }
        }
    }
}

extension Instruction {
    fileprivate var isAboutSchema: Bool {
        switch code {
        case .addTable, .eraseTable, .addColumn, .eraseColumn: true
        default: false
        }
    }
}
