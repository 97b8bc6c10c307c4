package import Changesets
package import Documents
package import Schemas

/// Makes values that fit a property, the extreme ones more often than chance would have them.
package struct RandomValues {
    private let schema: RealmSchema

    package init(schema: RealmSchema) {
        self.schema = schema
    }

    package func document(
        of owner: ClassSchema,
        using random: inout some RandomNumberGenerator,
        depth: Int = 0
    ) -> Document {
        Document(
            values: owner.properties.map { property in
                Int.random(in: 0..<4, using: &random) == 0
                    ? property.defaultValue
                    : value(of: property, using: &random, depth: depth)
            }
        )
    }

    /// `depth` counts the objects that the value is embedded in.
    package func value(
        of property: PropertySchema,
        using random: inout some RandomNumberGenerator,
        depth: Int = 0
    ) -> Value {
        let count = Int.random(in: 0...4, using: &random)
        switch property.collection {
        case .single:
            return element(of: property, using: &random, depth: depth)
        case .list:
            return .list(
                (0..<count).map { _ in element(of: property, using: &random, depth: depth) }
            )
        case .set:
            var set = ValueSet()
            for _ in 0..<count {
                if case .scalar(let scalar) = element(of: property, using: &random, depth: 99) {
                    set.insert(scalar)
                }
            }
            return .set(set)
        case .dictionary:
            var members: [Text: Value] = [:]
            for _ in 0..<count {
                members[key(using: &random)] = element(of: property, using: &random, depth: depth)
            }
            return .dictionary(members)
        }
    }

    private func element(
        of property: PropertySchema,
        using random: inout some RandomNumberGenerator,
        depth: Int
    ) -> Value {
        if property.acceptsNull, Int.random(in: 0..<4, using: &random) == 0 { return .null }
        switch schema.elementType(of: property) {
        case .scalar(let type):
            return .scalar(scalar(type, using: &random))
        case .mixed:
            return mixed(using: &random, depth: depth)
        case .link(let target):
            return .scalar(.link(link(target, using: &random)))
        case .embedded(let name):
            guard let owner = schema[name] else { return .null }
            guard depth < 3 else { return .object(Document(defaultsOf: owner)) }
            return .object(document(of: owner, using: &random, depth: depth + 1))
        case nil:
            return .null
        }
    }

    /// Beyond a depth of three no more collections, so that values end.
    private func mixed(using random: inout some RandomNumberGenerator, depth: Int) -> Value {
        switch Int.random(in: 0..<(depth < 3 ? 8 : 6), using: &random) {
        case 0:
            return .null
        case 1:
            let targets = schema.classes.compactMap { schema -> LinkTarget? in
                guard case .topLevel(let key) = schema.kind else { return nil }
                return LinkTarget(className: schema.name, key: key)
            }
            guard let target = targets.randomElement(using: &random) else { return .null }
            return .scalar(.link(link(target, using: &random)))
        case 6:
            let count = Int.random(in: 0...3, using: &random)
            return .list((0..<count).map { _ in mixed(using: &random, depth: depth + 1) })
        case 7:
            var members: [Text: Value] = [:]
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                members[key(using: &random)] = mixed(using: &random, depth: depth + 1)
            }
            return .dictionary(members)
        default:
            let type = ScalarType.allCases.randomElement(using: &random) ?? .int
            return .scalar(scalar(type, using: &random))
        }
    }

    private func link(
        _ target: LinkTarget,
        using random: inout some RandomNumberGenerator
    ) -> ObjectReference {
        if target.key.isNullable, Int.random(in: 0..<4, using: &random) == 0 {
            return ObjectReference(className: target.className, key: .null)
        }
        let key: ObjectKey =
            switch target.key.type {
            case .int: .int(integer(using: &random))
            case .string: .string(text(using: &random))
            case .objectID: .objectID(objectID(using: &random))
            case .uuid: .uuid(uuid(using: &random))
            case .globalKey: .globalKey(GlobalKey(high: random.next(), low: random.next()))
            }
        return ObjectReference(className: target.className, key: key)
    }
}

// MARK: Scalars

extension RandomValues {
    package func scalar(
        _ type: ScalarType,
        using random: inout some RandomNumberGenerator
    ) -> Scalar {
        switch type {
        case .int: .int(integer(using: &random))
        case .bool: .bool(Bool.random(using: &random))
        case .string: .string(text(using: &random))
        case .binary: .binary(bytes(using: &random))
        case .timestamp: .timestamp(timestamp(using: &random))
        case .float: .float(float(using: &random))
        case .double: .double(double(using: &random))
        case .decimal: .decimal(decimal(using: &random))
        case .objectID: .objectID(objectID(using: &random))
        case .uuid: .uuid(uuid(using: &random))
        }
    }

    private func integer(using random: inout some RandomNumberGenerator) -> Int64 {
        let extremes: [Int64] = [0, -1, .min, .max, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1]
        return Bool.random(using: &random)
            ? Int64.random(in: -10...10, using: &random)
            : extremes.randomElement(using: &random) ?? 0
    }

    private func text(using random: inout some RandomNumberGenerator) -> Text {
        let samples: [Text] = [
            "", "x", "ab", "\0", "a\0b", "\"\\/", "\u{1}\u{8}\t\n\u{c}\r\u{1f}\u{7f}", "Wörter",
            "日本", "🙂", "e\u{301}", "\u{2028}", "$oid", ".", Text(bytes: [0xff]),
            Text(bytes: [0x61, 0xc3]), Text(bytes: [0xed, 0xa0, 0x80]),
        ]
        return samples.randomElement(using: &random) ?? .empty
    }

    private func key(using random: inout some RandomNumberGenerator) -> Text {
        let keys: [Text] = [
            "", "a", "b", "key", "a$", "ü", "\"", "\n", "a\0b", "1", Text(bytes: [0xff, 0x61]),
        ]
        return keys.randomElement(using: &random) ?? .empty
    }

    private func bytes(using random: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...5, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
        }
    }

    private func timestamp(using random: inout some RandomNumberGenerator) -> Timestamp {
        let extremes: [Int64] = [
            0, 1, -1, .min, .max, 253_402_300_799, 253_402_300_800, -62_167_219_200,
            -62_167_219_201, 1_772_600_767,
        ]
        let seconds = extremes.randomElement(using: &random) ?? 0
        let fraction =
            Bool.random(using: &random) ? 0 : Int64.random(in: 0..<1_000_000_000, using: &random)
        let isNegative = seconds < 0 || seconds == 0 && Bool.random(using: &random)
        return Timestamp(seconds: seconds, nanoseconds: isNegative ? -fraction : fraction)
            ?? .epoch
    }

    private func float(using random: inout some RandomNumberGenerator) -> FloatBits {
        let extremes: [Float] = [
            0, -0.0, 1, -1.5, 0.1, .infinity, -.infinity, .nan, .greatestFiniteMagnitude,
            .leastNonzeroMagnitude, 16_777_216, 1e-5,
        ]
        return Bool.random(using: &random)
            ? FloatBits(extremes.randomElement(using: &random) ?? 0)
            : FloatBits(bitPattern: UInt32.random(in: 0...UInt32.max, using: &random))
    }

    private func double(using random: inout some RandomNumberGenerator) -> DoubleBits {
        let extremes: [Double] = [
            0, -0.0, 1, 100, -1.5, 0.1, .infinity, -.infinity, .nan, .greatestFiniteMagnitude,
            .leastNonzeroMagnitude, 9_007_199_254_740_992, 1e15, 1e16, 1e-5, 123_456.789,
        ]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return DoubleBits(bitPattern: random.next())
        case 1: return DoubleBits(bitPattern: 0x7ff0_0000_0000_0000 | random.next())
        default: return DoubleBits(extremes.randomElement(using: &random) ?? 0)
        }
    }

    private func decimal(using random: inout some RandomNumberGenerator) -> Decimal128 {
        let extremes: [Decimal128] = [
            .zero, Decimal128(high: 0xb040_0000_0000_0000, low: 0),
            Decimal128(high: 0x303c_0000_0000_0000, low: 100),
            Decimal128(high: 0x7800_0000_0000_0000, low: 0),
            Decimal128(high: 0xfc00_0000_0000_0000, low: 0),
            Decimal128(high: 0x7c00_0000_0000_0000, low: 1),
            Decimal128(high: 0x5fff_ed09_bead_87c0, low: 0x378d_8e63_ffff_ffff),
            Decimal128(high: 0, low: 1),
        ]
        return Bool.random(using: &random)
            ? extremes.randomElement(using: &random) ?? .zero
            : Decimal128(high: random.next(), low: random.next())
    }

    private func objectID(using random: inout some RandomNumberGenerator) -> ObjectID {
        ObjectID(bytes: (0..<12).map { _ in UInt8.random(in: 0...255, using: &random) }) ?? .zero
    }

    private func uuid(using random: inout some RandomNumberGenerator) -> UniqueID {
        UniqueID(bytes: (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }) ?? .zero
    }
}
