import BSON
import Changesets
import Documents
import Schemas

/// Converts values of documents by the types of properties (moving an app, 6.1).
struct ValueConversion: Sendable {
    private let schema: RealmSchema
    private let defaults: [PropertyName: Scalar]
    private let map: CollectionMap
    private let isStrict: Bool

    /// Gathers what is found on the way through one document.
    struct Run {
        var counts = ConversionCounts()
        var links: [ObjectReference] = []
        var droppedPaths: [String] = []
    }

    init(_ declaration: SchemaDeclarationView, map: CollectionMap, isStrict: Bool) {
        self.schema = declaration.schema
        self.defaults = declaration.defaults
        self.map = map
        self.isStrict = isStrict
    }

    /// Whole doubles become integers up to this number: beyond it not each integer is a double.
    private static let largestWholeDouble = 9_007_199_254_740_992.0

    // MARK: Objects

    /// - Parameter isKnown: whether a field without a property is left out without being counted.
    func document(
        _ source: BSONDocument,
        of owner: ClassSchema,
        isTop: Bool,
        _ run: inout Run,
        isKnown: (Text) -> Bool = { _ in false }
    ) throws(Unsyncable) -> Document {
        var document = Document(defaultsOf: owner)
        var isGiven = [Bool](repeating: false, count: owner.properties.count)
        for field in source.fields {
            guard let position = owner.position(of: field.name) else {
                if !isKnown(field.name) {
                    run.counts.dropped += 1
                    run.droppedPaths.append(field.name.description)
                }
                continue
            }
            isGiven[position] = true
            let property = owner.properties[position]
            let dropped = run.droppedPaths.count
            do throws(Unsyncable) {
                document.values[position] = try value(field.value, of: property, &run)
            } catch {
                throw error.inside(property.name.description)
            }
            for index in dropped..<run.droppedPaths.count {
                run.droppedPaths[index] = "\(property.name).\(run.droppedPaths[index])"
            }
        }
        for (position, property) in owner.properties.enumerated() where !isGiven[position] {
            let name = PropertyName(className: owner.name, property: property.name)
            if !defaults.isEmpty, let value = defaults[name] {
                document.values[position] = .scalar(value)
                run.counts.defaulted += 1
            } else if property.collection == .single, !property.acceptsNull {
                throw Unsyncable(.missingRequired, property.name.description)
            }
        }
        return document
    }

    private func value(
        _ source: BSONValue,
        of property: PropertySchema,
        _ run: inout Run
    ) throws(Unsyncable) -> Value {
        if property.collection != .single, source == .null { return property.defaultValue }
        switch property.collection {
        case .single:
            if source == .null {
                guard property.acceptsNull else { throw Unsyncable(.nullForRequired) }
                return .null
            }
            return try slot(source, property.type, &run)
        case .list:
            guard case .array(let elements) = source else { throw Unsyncable(.badType) }
            return .list(try self.elements(elements, property, &run))
        case .set:
            guard case .array(let elements) = source else { throw Unsyncable(.badType) }
            var set = ValueSet()
            for (index, element) in try self.elements(elements, property, &run).enumerated() {
                guard case .scalar(let scalar) = element else {
                    throw Unsyncable(.badType, "[\(index)]")
                }
                if !set.insert(scalar) { run.counts.collapsed += 1 }
            }
            return .set(set)
        case .dictionary:
            guard case .document(let document) = source else { throw Unsyncable(.badType) }
            var members: [Text: Value] = [:]
            for field in document.fields {
                guard Self.isLegalKey(field.name) else {
                    throw Unsyncable(.badType, field.name.description)
                }
                do throws(Unsyncable) {
                    members[field.name] = try element(field.value, property, &run)
                } catch {
                    throw error.inside(field.name.description)
                }
            }
            return .dictionary(members)
        }
    }

    private static func isLegalKey(_ key: Text) -> Bool { DictionaryKey.isLegal(key) }

    private func elements(
        _ sources: [BSONValue],
        _ property: PropertySchema,
        _ run: inout Run
    ) throws(Unsyncable) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(sources.count)
        for (index, source) in sources.enumerated() {
            do throws(Unsyncable) {
                values.append(try element(source, property, &run))
            } catch {
                throw error.inside("[\(index)]")
            }
        }
        return values
    }

    private func element(
        _ source: BSONValue,
        _ property: PropertySchema,
        _ run: inout Run
    ) throws(Unsyncable) -> Value {
        if source == .null {
            guard property.acceptsNull else { throw Unsyncable(.nullForRequired) }
            return .null
        }
        return try slot(source, property.type, &run)
    }

    // MARK: One value

    private func slot(
        _ source: BSONValue,
        _ type: PropertyType,
        _ run: inout Run
    ) throws(Unsyncable) -> Value {
        switch type {
        case .mixed: return try mixed(source, level: 0, &run)
        case .link(let target):
            guard let owner = schema[target] else { throw Unsyncable(.badType) }
            guard let key = owner.primaryKey else {
                guard case .document(let document) = source else { throw Unsyncable(.badType) }
                return .object(try self.document(document, of: owner, isTop: false, &run))
            }
            let link = ObjectReference(className: target, key: try self.key(source, key, &run))
            run.links.append(link)
            return .scalar(.link(link))
        case .int: return .scalar(.int(try integer(source, &run)))
        case .bool:
            guard case .bool(let value) = source else { throw Unsyncable(.badType) }
            return .scalar(.bool(value))
        case .string: return .scalar(.string(try string(source, &run)))
        case .binary:
            guard case .binary(let subtype, let bytes) = source, subtype == 0 || subtype == 2,
                bytes.count <= FormatLimits.binarySizeInBytes
            else { throw Unsyncable(.badType) }
            return .scalar(.binary(bytes))
        case .timestamp:
            guard case .date(let milliseconds) = source,
                let timestamp = Timestamp(milliseconds: milliseconds)
            else { throw Unsyncable(.badType) }
            return .scalar(.timestamp(timestamp))
        case .float: return .scalar(.float(try float(source, &run)))
        case .double: return .scalar(.double(try double(source, &run)))
        case .decimal: return .scalar(.decimal(try decimal(source, &run)))
        case .objectID:
            guard case .objectID(let id) = source else { throw Unsyncable(.badType) }
            return .scalar(.objectID(id))
        case .uuid:
            guard case .binary(4, let bytes) = source, let id = UniqueID(bytes: bytes) else {
                throw Unsyncable(.badType)
            }
            return .scalar(.uuid(id))
        }
    }

    private func convert(_ run: inout Run) throws(Unsyncable) {
        guard !isStrict else { throw Unsyncable(.badType) }
        run.counts.converted += 1
    }

    func integer(_ source: BSONValue, _ run: inout Run) throws(Unsyncable) -> Int64 {
        switch source {
        case .int32(let value): return Int64(value)
        case .int64(let value): return value
        case .double(let value):
            guard value.value.magnitude <= Self.largestWholeDouble,
                let whole = Int64(exactly: value.value)
            else { throw Unsyncable(.badType) }
            try convert(&run)
            return whole
        default: throw Unsyncable(.badType)
        }
    }

    private func string(_ source: BSONValue, _ run: inout Run) throws(Unsyncable) -> Text {
        let text: Text
        switch source {
        case .string(let value): text = value
        case .symbol(let value):
            try convert(&run)
            text = value
        default: throw Unsyncable(.badType)
        }
        guard text.bytes.count <= FormatLimits.stringSizeInBytes else {
            throw Unsyncable(.badType)
        }
        return text
    }

    private func double(_ source: BSONValue, _ run: inout Run) throws(Unsyncable) -> DoubleBits {
        switch source {
        case .double(let value): return value
        case .int32(let value):
            try convert(&run)
            return DoubleBits(Double(value))
        case .int64(let value):
            guard let exact = Double(exactly: value) else { throw Unsyncable(.badType) }
            try convert(&run)
            return DoubleBits(exact)
        default: throw Unsyncable(.badType)
        }
    }

    private func float(_ source: BSONValue, _ run: inout Run) throws(Unsyncable) -> FloatBits {
        switch source {
        case .double(let bits):
            let (value, nearest) = (bits.value, Float(bits.value))
            if value.isNaN { return FloatBits(.nan) }
            guard nearest.isFinite || value.isInfinite else { throw Unsyncable(.badType) }
            if Double(nearest) != value {
                guard !isStrict else { throw Unsyncable(.badType) }
                run.counts.rounded += 1
            }
            return FloatBits(nearest)
        case .int32(let value):
            guard let exact = Float(exactly: value) else { throw Unsyncable(.badType) }
            try convert(&run)
            return FloatBits(exact)
        case .int64(let value):
            guard let exact = Float(exactly: value) else { throw Unsyncable(.badType) }
            try convert(&run)
            return FloatBits(exact)
        default: throw Unsyncable(.badType)
        }
    }

    private func decimal(_ source: BSONValue, _ run: inout Run) throws(Unsyncable) -> Decimal128 {
        let whole: Int64
        switch source {
        // These bits mean null on the wire.
        case .decimal(.referenceNull): throw Unsyncable(.badType)
        case .decimal(let value): return value
        case .int32(let value): whole = Int64(value)
        case .int64(let value): whole = value
        default: throw Unsyncable(.badType)
        }
        try convert(&run)
        guard
            let decimal = Decimal128(
                coefficientHigh: 0,
                coefficientLow: whole.magnitude,
                exponent: 0,
                isNegative: whole < 0
            )
        else { throw Unsyncable(.badType) }
        return decimal
    }

    /// A primary key of a class.
    func key(
        _ source: BSONValue,
        _ key: PrimaryKeySchema,
        _ run: inout Run
    ) throws(Unsyncable) -> ObjectKey {
        switch (source, key.type) {
        case (.null, _) where key.isNullable: return .null
        case (_, .int): return .int(try integer(source, &run))
        case (.string(let text), .string): return .string(text)
        case (.objectID(let id), .objectID): return .objectID(id)
        case (.binary(4, let bytes), .uuid):
            guard let id = UniqueID(bytes: bytes) else { throw Unsyncable(.badType) }
            return .uuid(id)
        default: throw Unsyncable(.badType)
        }
    }

    // MARK: Mixed

    /// `level` counts the collections around the value.
    private func mixed(
        _ source: BSONValue,
        level: Int,
        _ run: inout Run
    ) throws(Unsyncable) -> Value {
        switch source {
        case .null: return .null
        case .int32(let value): return .scalar(.int(Int64(value)))
        case .int64(let value): return .scalar(.int(value))
        case .double(let value): return .scalar(.double(value))
        case .bool(let value): return .scalar(.bool(value))
        case .string, .symbol: return .scalar(.string(try string(source, &run)))
        case .decimal: return .scalar(.decimal(try decimal(source, &run)))
        case .objectID(let id): return .scalar(.objectID(id))
        case .date(let milliseconds):
            guard let timestamp = Timestamp(milliseconds: milliseconds) else {
                throw Unsyncable(.badType)
            }
            return .scalar(.timestamp(timestamp))
        case .binary(4, let bytes):
            guard let id = UniqueID(bytes: bytes) else { throw Unsyncable(.badType) }
            return .scalar(.uuid(id))
        case .binary(let subtype, let bytes):
            guard subtype == 0 || subtype == 2, bytes.count <= FormatLimits.binarySizeInBytes
            else { throw Unsyncable(.badType) }
            return .scalar(.binary(bytes))
        case .array(let elements):
            guard level < FormatLimits.nestingDepth else { throw Unsyncable(.badType) }
            run.counts.nestedCollections += 1
            var values: [Value] = []
            values.reserveCapacity(elements.count)
            for element in elements {
                values.append(try mixed(element, level: level + 1, &run))
            }
            return .list(values)
        case .document(let document):
            if let link = try reference(document, &run) { return .scalar(.link(link)) }
            guard level < FormatLimits.nestingDepth else { throw Unsyncable(.badType) }
            run.counts.nestedCollections += 1
            var members: [Text: Value] = [:]
            for field in document.fields {
                guard Self.isLegalKey(field.name) else { throw Unsyncable(.badType) }
                members[field.name] = try mixed(field.value, level: level + 1, &run)
            }
            return .dictionary(members)
        case .regularExpression, .pointer, .code, .codeWithScope, .timestamp, .minKey, .maxKey,
            .undefined:
            throw Unsyncable(.badType)
        }
    }

    /// The link that a DBRef is; nil for another document.
    private func reference(
        _ document: BSONDocument,
        _ run: inout Run
    ) throws(Unsyncable) -> ObjectReference? {
        guard document.fields.first?.name == "$ref", let id = document["$id"] else { return nil }
        guard case .string(let collection)? = document["$ref"] else {
            throw Unsyncable(.badType)
        }
        var database: String?
        if case .string(let text)? = document["$db"] { database = text.description }
        guard
            let name = map.className(database: database, collection: collection.description),
            let key = schema[name]?.primaryKey
        else { throw Unsyncable(.badType) }
        let link = ObjectReference(className: name, key: try self.key(id, key, &run))
        run.links.append(link)
        return link
    }
}
