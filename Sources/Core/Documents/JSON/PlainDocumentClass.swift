import Changesets
import Schemas

/// The documents of one class, for `PlainDocumentWriter`, with everything prepared that is the same in all of
/// them.
struct PlainDocumentClass {
    private let owner: ClassSchema
    private let keyOpening: [UInt8]?
    private let members: [Member]
    /// The property that each object must set.
    private let required: Int?
    /// Positions of the properties by names in the changeset, once looked up; -1 for others.
    private var positions: [Int?] = []
    /// For each property, the place of its value among the object's fields.
    private var fields: [Int]
    /// For each property, the number of the last object that set it.
    private var lastObjects: [Int]
    private var number = 0

    fileprivate struct Member {
        /// The text in front of the value.
        let opening: [UInt8]
        /// The same with the value of a new object.
        let initial: [UInt8]
        let form: Form
        let acceptsNull: Bool
    }

    fileprivate enum Form {
        case scalar(ScalarType)
        case link(LinkTarget)
        /// No value fits as it is in the changeset.
        case other
    }

    init(_ owner: ClassSchema, _ form: JSONForm, required: Text?) {
        self.owner = owner
        self.keyOpening = form.keyOpening(of: owner)
        self.members = owner.properties.enumerated().map { position, property in
            let opening = form.opening(of: position, of: owner)
            return Member(
                opening: opening,
                initial: opening + form.encode(property.defaultValue, of: property),
                form: Self.form(of: property, form),
                acceptsNull: property.acceptsNull
            )
        }
        self.required = required.flatMap { owner.position(of: $0) }
        self.fields = Array(repeating: 0, count: members.count)
        self.lastObjects = Array(repeating: 0, count: members.count)
    }

    private static func form(of property: PropertySchema, _ form: JSONForm) -> Form {
        guard property.collection == .single else { return .other }
        switch form.elementType(of: property) {
        case .scalar(let type): return .scalar(type)
        case .link(let target):
            guard let owner = form.schema[target.className], case .topLevel = owner.kind else {
                return .other
            }
            return .link(target)
        case .mixed, .embedded: return .other
        }
    }

    /// Call it before the objects of each changeset, which has its own strings.
    mutating func begin(_ strings: StringTable) {
        positions = Array(repeating: nil, count: strings.count)
    }

    /// Writes a new object; nil if it is not one of this simple kind. The text may then end in a part of it.
    mutating func write(
        _ object: PlainObject,
        _ strings: StringTable,
        _ bytes: UnsafeBufferPointer<UInt8>,
        to text: inout TextBuffer
    ) -> ObjectKey? {
        let key = strings.objectKey(object.key)
        guard object.isCreated, owner.accepts(key), assign(object, strings) else { return nil }
        if let keyOpening {
            text.append(keyOpening)
            text.append(key)
        }
        for position in members.indices {
            guard lastObjects[position] == number else {
                text.append(members[position].initial)
                continue
            }
            let value = object.fields[fields[position]].value
            guard write(value, of: position, strings, bytes, to: &text) else { return nil }
        }
        if keyOpening == nil, members.isEmpty { text.append(UInt8(ascii: "{")) }
        text.append(UInt8(ascii: "}"))
        return key
    }

    /// Finds the last value of each property.
    private mutating func assign(_ object: PlainObject, _ strings: StringTable) -> Bool {
        number += 1
        for index in object.fields.indices {
            let field = object.fields[index]
            let position = position(of: field.name, strings)
            guard position >= 0 else { return false }
            // What a zero becomes depends on the value before.
            if lastObjects[position] == number, field.value.isZero { return false }
            lastObjects[position] = number
            fields[position] = index
        }
        return required.map { lastObjects[$0] == number } ?? true
    }

    private mutating func position(of name: InternIndex, _ strings: StringTable) -> Int {
        let index = Int(name.rawValue)
        if let known = positions[index] { return known }
        let position = owner.position(of: strings[name]) ?? -1
        positions[index] = position
        return position
    }
}

// MARK: Values

extension PlainDocumentClass {
    /// False if the value does not fit, or needs a closer look.
    private func write(
        _ value: PlainObject.Value,
        of property: Int,
        _ strings: StringTable,
        _ bytes: UnsafeBufferPointer<UInt8>,
        to text: inout TextBuffer
    ) -> Bool {
        // A zero leaves the zero of a new object with its sign as it is (instruction semantics, 3.16).
        if value.isZero, !members[property].acceptsNull, members[property].fits(value) {
            text.append(members[property].initial)
            return true
        }
        text.append(members[property].opening)
        switch (value, members[property].form) {
        case (.null, .scalar), (.null, .link):
            guard members[property].acceptsNull else { return false }
            text.append("null")
        case (.int(let value), .scalar(.int)): text.append(number: value)
        case (.bool(let value), .scalar(.bool)): text.append(value ? "true" : "false")
        case (.string(let range), .scalar(.string)):
            text.append(string: UnsafeBufferPointer(rebasing: bytes[range.bounds]))
        case (.binary(let range), .scalar(.binary)):
            guard range.count <= FormatLimits.binarySizeInBytes else { return false }
            text.append(base64: UnsafeBufferPointer(rebasing: bytes[range.bounds]))
        case (.timestamp(let value), .scalar(.timestamp)):
            if !text.append(value) { text.append(general: .timestamp(value)) }
        case (.float(let value), .scalar(.float)): text.append(value)
        case (.double(let value), .scalar(.double)): text.append(value)
        case (.objectID(let value), .scalar(.objectID)): text.append(general: .objectID(value))
        case (.uuid(let value), .scalar(.uuid)): text.append(general: .uuid(value))
        case (.link(let className, let key), .link(let target)):
            let key = strings.objectKey(key)
            // A link to the object without a key has a form of its own.
            guard strings[className] == target.className, key != .null, target.key.accepts(key)
            else { return false }
            text.append(key)
        // Decimals that are equal may be different numbers.
        default: return false
        }
        return true
    }
}

extension PlainDocumentClass.Member {
    fileprivate func fits(_ zero: PlainObject.Value) -> Bool {
        switch (zero, form) {
        case (.float, .scalar(.float)), (.double, .scalar(.double)): true
        default: false
        }
    }
}

extension PlainObject.Value {
    fileprivate var isZero: Bool {
        switch self {
        case .float(let bits): bits.value == 0
        case .double(let bits): bits.value == 0
        default: false
        }
    }
}
