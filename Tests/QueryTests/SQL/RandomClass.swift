import Changesets
import Documents
import Query
import Schemas
import TestSupport

/// A random class, with objects and queries that meet its limits.
struct RandomClass {
    static let name: Text = "Thing"

    let schema: RealmSchema
    let owner: ClassSchema
    let objects: [RandomObject]
    let documents: [[UInt8]]

    init(using random: inout SplitMix64, objects count: Int = 40) {
        var properties: [PropertySchema] = []
        for (index, type) in Self.types.enumerated() {
            let collections: [CollectionType] = [.single, .single, .single, .list, .set]
            properties.append(
                PropertySchema(
                    name: Text(Self.names[index]),
                    type: type,
                    isNullable: type == .mixed || Bool.random(using: &random),
                    collection: collections.randomElement(using: &random) ?? .single
                )
            )
        }
        owner = ClassSchema(
            name: Self.name,
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
            properties: properties
        )
        schema = RealmSchema([owner])
        let form = JSONForm(schema: schema)
        var objects: [RandomObject] = []
        var documents: [[UInt8]] = []
        for number in 0..<count {
            var members: [Int: Value] = [:]
            var document = Document(defaultsOf: owner)
            // A member may be missing: objects are older than properties.
            for (index, property) in owner.properties.enumerated()
            where Int.random(in: 0..<8, using: &random) > 0 {
                members[index] = Self.value(of: property, using: &random)
                document.values[index] = members[index] ?? .null
            }
            objects.append(RandomObject(key: Int64(number), document: document))
            let json = form.encodeMembers(members, of: owner)
            let comma = members.isEmpty ? "" : ","
            documents.append(Array("{\"_id\":\(number)\(comma)".utf8) + json.dropFirst())
        }
        self.objects = objects
        self.documents = documents
    }

    private static let types: [PropertyType] = [
        .int, .int, .bool, .string, .string, .binary, .timestamp, .float, .double, .decimal,
        .objectID, .uuid, .mixed, .mixed,
    ]

    private static let names = [
        "count", "größe", "active", "name", "with-dash", "data", "born", "weight", "height",
        "price", "owner", "code", "anything", "_other2",
    ]

    // MARK: Values

    private static func value(
        of property: PropertySchema,
        using random: inout SplitMix64
    ) -> Value {
        func scalar() -> Scalar {
            if property.isNullable, Int.random(in: 0..<4, using: &random) == 0 { return .null }
            return scalarOf(property.type, using: &random)
        }
        let count = Int.random(in: 0..<4, using: &random)
        switch property.collection {
        case .single: return .scalar(scalar())
        case .set: return .set(ValueSet((0..<count).map { _ in scalar() }))
        case .list, .dictionary: return .list((0..<count).map { _ in .scalar(scalar()) })
        }
    }

    private static func scalarOf(
        _ type: PropertyType,
        using random: inout SplitMix64
    ) -> Scalar {
        switch type {
        case .mixed:
            let types = Self.types.filter { $0 != .mixed }
            return scalarOf(types.randomElement(using: &random) ?? .int, using: &random)
        case .int: return .int(pick(ints, &random))
        case .bool: return .bool(Bool.random(using: &random))
        case .string: return .string(Text(bytes: pick(strings, &random)))
        case .binary: return .binary(pick(strings, &random))
        case .timestamp: return .timestamp(pick(dates, &random))
        case .float: return .float(FloatBits(Float(pick(doubles, &random))))
        case .double: return .double(DoubleBits(pick(doubles, &random)))
        case .decimal: return .decimal(decimal(pick(ints, &random)))
        case .objectID: return .objectID(ObjectID(text: Array(pick(idents, &random).utf8)) ?? .zero)
        case .uuid: return .uuid(UniqueID(text: Array(pick(uuids, &random).utf8)) ?? .zero)
        case .link: return .null
        }
    }

    private static func pick<Element>(
        _ pool: [Element],
        _ random: inout SplitMix64
    ) -> Element {
        pool[Int.random(in: pool.indices, using: &random)]
    }

    private static let ints: [Int64] = [
        0, 1, -1, 2, 5, 10, 255, .max, .min, .max - 1, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1,
    ]

    private static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.1, 0.30000000000000004, 0.3, 1.5, 2, 5, 1e16, 9007199254740992, 1e300,
        .leastNonzeroMagnitude, 2.2250738585072014e-308, .infinity, -.infinity, .nan, 0.1.nextUp,
        0.1.nextDown,
        9.223372036854775e18, 123456789.125, 1e22, 8.41e21, 0.000001, 1e-7,
    ]

    private static let strings: [[UInt8]] = [
        [], Array("a".utf8), Array("A".utf8), Array("ab".utf8), Array("b".utf8),
        Array("É".utf8), Array("é".utf8), Array("e\u{301}".utf8), Array("×".utf8),
        Array("÷".utf8), Array("Я".utf8), Array("я".utf8), Array("😀".utf8), Array("a😀b".utf8),
        Array("x\0y".utf8), [0xff, 0x61], Array("{\"$string\":{\"base64\":\"eAB5\"}}".utf8),
        Array("{\"$string\": {\"base64\": \"eAB5\"}}".utf8),
        Array("[a]".utf8), Array("100%_a\\b".utf8), Array("100%xa\\b".utf8),
        Array("{\"$oid\":\"0123456789abcdef01234567\"}".utf8), Array("null".utf8),
        Array("true".utf8),
        Array("1".utf8), Array("it's".utf8), Array("\n\t\"".utf8), Array("@1.2".utf8),
        Array("zz".utf8), Array("ÿŸ".utf8), [0x7f], Array("\u{10ffff}".utf8),
    ]

    private static let dates: [Timestamp] = [
        .epoch, date(0, -1), date(0, 1), date(-1, -999_999_999), date(1_700_000_000, 5),
        date(-62_167_219_200, 0), date(-62_167_219_200, -1), date(253_402_300_799, 999_999_999),
        date(253_402_300_800, 0), date(.max, 999_999_999), date(.min, -1), date(951_782_400, 0),
    ]

    private static func decimal(_ number: Int64) -> Decimal128 {
        Decimal128(
            coefficientHigh: 0,
            coefficientLow: number.magnitude,
            exponent: -1,
            isNegative: number < 0
        ) ?? .zero
    }

    private static func date(_ seconds: Int64, _ nanoseconds: Int64) -> Timestamp {
        Timestamp(seconds: seconds, nanoseconds: nanoseconds) ?? .epoch
    }

    private static let idents = [
        "000000000000000000000000", "0123456789abcdef01234567", "ffffffffffffffffffffffff",
    ]

    private static let uuids = [
        "00000000-0000-0000-0000-000000000000", "01234567-89ab-cdef-0123-456789abcdef",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ]

    // MARK: Queries

    func query(depth: Int = 3, using random: inout SplitMix64) -> [UInt8] {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 5), using: &random) {
        case 5: Array("NOT ".utf8) + query(depth: 0, using: &random)
        case 6: Array("!(".utf8) + query(depth: depth - 1, using: &random) + Array(")".utf8)
        case 7:
            query(depth: depth - 1, using: &random) + Array(" and ".utf8)
                + query(depth: depth - 1, using: &random)
        case 8, 9:
            Array("(".utf8) + query(depth: depth - 1, using: &random) + Array(" or ".utf8)
                + query(depth: depth - 1, using: &random) + Array(")".utf8)
        default: comparison(using: &random)
        }
    }

    private func comparison(using random: inout SplitMix64) -> [UInt8] {
        let property = owner.properties.randomElement(using: &random)
        guard let property, Int.random(in: 0..<20, using: &random) > 0 else {
            return Array("_id \(Self.pick(Self.signs, &random)) 7".utf8)
        }
        let other = owner.properties.randomElement(using: &random) ?? property
        var left = Array(property.name.bytes)
        if property.collection != .single {
            if property.collection == .list, Int.random(in: 0..<6, using: &random) == 0 {
                let number = Self.pick(["0", "1", "2", "1.5", "-3"], &random)
                return left + Array(".@count \(Self.pick(Self.signs, &random)) \(number)".utf8)
            }
            left = Array(Self.pick(["", "ANY ", "ALL ", "NONE "], &random).utf8) + left
        }
        let sign = Array(" \(Self.pick(Self.signs, &random)) ".utf8)
        let constant = Self.constant(property.type, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            let count = Int.random(in: 1..<4, using: &random)
            let large = Int.random(in: 0..<5, using: &random) == 0 ? 30 : count
            let list = (0..<large).map { _ in Self.constant(property.type, using: &random) }
            return left + Array(" IN {".utf8) + Array(list.joined(separator: [0x2c])) + [0x7d]
        case 1:
            return left + Array(" BETWEEN {".utf8) + constant + [0x2c]
                + Self.constant(property.type, using: &random) + [0x7d]
        case 2: return constant + sign + left
        case 3: return left + sign + Array(other.name.bytes)
        case 4, 5, 6, 7:
            guard property.type == .string || property.type == .mixed else { break }
            return left + Array(" \(Self.pick(Self.searches, &random)) ".utf8)
                + Self.string(Self.pick(Self.needles, &random))
        default: break
        }
        return left + sign + constant
    }

    private static let signs = ["==", "!=", "<", "<=", ">", ">=", "==", "!=", "==[c]", "!=[c]"]

    private static let searches = [
        "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "BEGINSWITH[c]", "ENDSWITH[c]",
        "CONTAINS[c]", "LIKE[c]",
    ]

    private static let needles =
        strings
        + ["a*", "?", "*b", "*[*", "[a]", "?😀*", "*%_*", "A?B", "é*", "*", "**a**b*c*d*"]
        .map { Array($0.utf8) }

    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        let isPlain = !bytes.contains { $0 == 0 || $0 == 0x22 || $0 == 0x5c || $0 < 0x20 }
        return isPlain
            ? [0x22] + bytes + [0x22] : Array("B64\"".utf8) + Base64.encode(bytes) + [0x22]
    }

    private static func constant(
        _ type: PropertyType,
        using random: inout SplitMix64
    ) -> [UInt8] {
        if Int.random(in: 0..<8, using: &random) == 0 { return Array("NULL".utf8) }
        switch type {
        case .mixed:
            let types = Self.types.filter { $0 != .mixed }
            return constant(types.randomElement(using: &random) ?? .int, using: &random)
        case .int:
            let number = pick(doubles, &random)
            return Bool.random(using: &random)
                ? Array("\(pick(ints, &random))".utf8) : spelled(number, &random)
        case .bool: return Array((Bool.random(using: &random) ? "true" : "false").utf8)
        case .string: return string(pick(strings, &random))
        case .binary:
            return Array("binary(".utf8) + string(pick(strings, &random)) + Array(")".utf8)
        case .timestamp:
            let date = pick(dates, &random)
            let extra = ["T0:1000000000", "T5:0"]
            return Bool.random(using: &random)
                ? Array("T\(date.seconds):\(date.nanoseconds)".utf8)
                : Array(pick(extra, &random).utf8)
        case .float, .double, .decimal:
            return Bool.random(using: &random)
                ? Array("\(pick(ints, &random))".utf8) : spelled(pick(doubles, &random), &random)
        case .objectID: return Array("oid(\(pick(idents, &random)))".utf8)
        case .uuid: return Array("uuid(\(pick(uuids, &random)))".utf8)
        case .link: return Array("NULL".utf8)
        }
    }

    private static func spelled(_ number: Double, _ random: inout SplitMix64) -> [UInt8] {
        let suffix = number.isFinite && Int.random(in: 0..<4, using: &random) == 0 ? "f" : ""
        return Array((number.isNaN ? "nan" : "\(number)" + suffix).utf8)
    }
}

struct RandomObject: QueryableObject {
    let key: Int64
    let document: Document

    func value(of field: QueryField) -> Value {
        guard let position = field.position else { return .scalar(.int(key)) }
        return document.values[position]
    }
}
