import Changesets
import FoundationEssentials
import TestSupport
import Testing

/// A plain changeset is read from its bytes with the same result as by decoding all of it. `REALM_SEEDS`
/// lengthens the runs.
@Suite("Plain changesets")
struct PlainChangesetTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(Int.init) ?? 3_000

    @Test("Have the objects and values of the decoded ones, whole or damaged")
    func reading() throws {
        var random = SplitMix64(seed: 18)
        var plainCount = 0
        for round in 0..<Self.rounds {
            var bytes = Self.randomBytes(using: &random)
            let isDamaged = Bool.random(using: &random)
            if isDamaged { Self.damage(&bytes, using: &random) }
            let isPlain = try check(bytes, "round \(round)")
            #expect(isPlain || isDamaged, "round \(round)")
            if isPlain { plainCount += 1 }
        }
        // About every third of the damaged ones is still valid.
        #expect(plainCount > Self.rounds / 2)
    }

    @Test("Begin with a new object, and have no path, no markers and no other instruction")
    func others() throws {
        let object = ObjectReference(className: "Class", key: .int(1))
        let others: [(inout ChangesetWriter) -> Void] = [
            { _ in },
            { $0.update(object, "a", to: .scalar(.int(1))) },
            {
                $0.createObject(object); $0.eraseObject(object)
            },
            {
                $0.createObject(object); $0.update(object, "a", to: .objectValue)
            },
            {
                $0.createObject(object); $0.addInteger(object, "a", amount: 1)
            },
            {
                $0.createObject(object)
                $0.update(object, "a", path: [.string("b")], to: .scalar(.int(1)))
            },
            { $0.addEmbeddedClass("Class") },
        ]
        for write in others {
            var writer = ChangesetWriter()
            write(&writer)
            #expect(PlainChangeset(writer.bytes) == nil)
        }
    }

    @Test("Come by ascending keys, all runs of an object at once")
    func order() throws {
        var writer = ChangesetWriter()
        let keys: [Int64] = [3, -1, .max, 2, .min]
        for key in keys { writer.createObject(.init(className: "Class", key: .int(key))) }
        for key in keys {
            writer.update(.init(className: "Class", key: .int(key)), "a", to: .scalar(.int(key)))
        }
        let changeset = try #require(PlainChangeset(writer.bytes))
        let objects = try Self.objects(of: changeset)
        #expect(objects.map(\.key) == keys.sorted().map { .int($0) })
        #expect(objects.allSatisfy { $0.isCreated && $0.fields.count == 1 })
        #expect(changeset.instructions(on: [objects[1].place]) == [1, 6])
    }

    /// Whether the changeset is plain.
    private func check(_ bytes: [UInt8], _ comment: Comment) throws -> Bool {
        let decoded = try? Changeset(decoding: bytes)
        guard let plain = PlainChangeset(bytes) else {
            #expect(decoded?.isPlain != true, comment)
            return false
        }
        let changeset = try #require(decoded, comment)
        #expect(changeset.isPlain, comment)
        #expect(plain.strings == changeset.strings, comment)

        var expected: [Instruction.ObjectTarget: [Int]] = [:]
        for (position, instruction) in changeset.instructions.enumerated() {
            guard let target = instruction.objectTarget else { continue }
            expected[target, default: []].append(position)
        }
        let objects = try Self.objects(of: plain)
        #expect(objects.count == expected.count, comment)
        for object in objects {
            let target = Instruction.ObjectTarget(className: object.className, key: object.key)
            let positions = expected[target] ?? []
            #expect(plain.instructions(on: [object.place]) == positions, comment)
            let instructions = positions.map { changeset.instructions[$0] }
            #expect(object.isCreated == (instructions.first == .createObject(target)), comment)
            let updates = instructions.compactMap { instruction -> Instruction.Update? in
                if case .update(let update) = instruction { update } else { nil }
            }
            #expect(object.fields.map(\.name) == updates.map(\.target.field), comment)
            let payloads = object.fields.map { $0.value.payload(in: bytes) }
            #expect(payloads == updates.map(\.payload), comment)
            let reference = changeset.reference(target)
            #expect(plain.containsObject { $0 == reference }, comment)
            #expect(plain.objects.contains(reference), comment)
        }
        let received = try ReceivedChangeset(decoding: bytes, mayStayPlain: true)
        #expect(received.changeset == changeset, comment)
        #expect(received.encoded() == changeset.encoded(), comment)
        #expect(try received.encoded() == ReceivedChangeset(decoding: bytes).encoded(), comment)
        return true
    }

    private static func objects(of changeset: PlainChangeset) throws -> [PlainObject] {
        try changeset.bytes.withUnsafeBufferPointer { buffer in
            var reader = PlainReader(changeset, buffer)
            var object = PlainObject()
            var objects: [PlainObject] = []
            while try reader.read(&object) { objects.append(object) }
            return objects
        }
    }
}

// MARK: Random ones

extension PlainChangesetTests {
    private static func randomBytes(using random: inout SplitMix64) -> [UInt8] {
        var writer = ChangesetWriter()
        var object = self.object(using: &random)
        writer.createObject(object)
        for _ in 0..<Int.random(in: 0..<20, using: &random) {
            if Int.random(in: 0..<4, using: &random) == 0 { object = self.object(using: &random) }
            if Int.random(in: 0..<4, using: &random) == 0 {
                writer.createObject(object)
            } else {
                let field = Text("field \(Int.random(in: 0..<5, using: &random))")
                writer.update(
                    object,
                    field,
                    to: .scalar(scalar(using: &random)),
                    isDefault: Bool.random(using: &random)
                )
            }
        }
        // Its strings are ahead of all instructions.
        guard Bool.random(using: &random), let changeset = try? Changeset(decoding: writer.bytes)
        else { return writer.bytes }
        return changeset.encoded()
    }

    private static func object(using random: inout SplitMix64) -> ObjectReference {
        let number = Int.random(in: -2..<3, using: &random)
        let digits = (0..<16).map { UInt8(truncatingIfNeeded: number * $0) }
        let keys: [ObjectKey] = [
            .null, .int(Int64(number) << 40), .string(Text("key \(number)")),
            .objectID(ObjectID(bytes: digits.prefix(12)) ?? .zero),
            .uuid(UniqueID(bytes: digits) ?? .zero),
            .globalKey(GlobalKey(high: 1, low: UInt64(number + 2))),
        ]
        let className: Text = Bool.random(using: &random) ? "One" : "Two"
        let key = keys.randomElement(using: &random) ?? .null
        return ObjectReference(className: className, key: key)
    }

    private static func scalar(using random: inout SplitMix64) -> Scalar {
        let width = Int64.random(in: 0..<64, using: &random)
        let number = Int64(truncatingIfNeeded: random.next()) >> width
        let length = Int.random(in: 0..<80, using: &random)
        let text = Array(repeating: UInt8(ascii: "t"), count: length)
        let scalars: [Scalar] = [
            .null, .int(number), .bool(number > 0), .string(Text(bytes: text)), .binary(text),
            .timestamp(Timestamp(seconds: number, nanoseconds: 0) ?? .epoch),
            .float(FloatBits(Float(number))), .double(DoubleBits(Double(number))),
            .decimal(.zero), .decimal(.referenceNull), .link(object(using: &random)),
            .objectID(.zero), .uuid(.zero),
        ]
        return scalars.randomElement(using: &random) ?? .null
    }

    private static func damage(_ bytes: inout [UInt8], using random: inout SplitMix64) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
        case 1:
            bytes.insert(UInt8.random(in: 0...255, using: &random), at: bytes.count / 2)
        default:
            let position = Int.random(in: 0..<bytes.count, using: &random)
            bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
    }
}

extension Changeset {
    fileprivate var isPlain: Bool {
        guard case .createObject = instructions.first else { return false }
        return instructions.allSatisfy { instruction in
            switch instruction {
            case .createObject: return true
            case .update(let update):
                guard update.target.path.isEmpty else { return false }
                switch update.payload {
                case .objectValue, .dictionary, .list, .set, .erased: return false
                default: return true
                }
            default: return false
            }
        }
    }
}

extension PlainObject.Value {
    fileprivate func payload(in bytes: [UInt8]) -> Payload {
        switch self {
        case .null: .null
        case .int(let value): .int(value)
        case .bool(let value): .bool(value)
        case .string(let range): .string(Text(bytes: Array(bytes[range.bounds])))
        case .binary(let range): .binary(Array(bytes[range.bounds]))
        case .timestamp(let value): .timestamp(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .decimal(let value): .decimal(value)
        case .link(let className, let key): .link(className: className, key: key)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        }
    }
}
