import Changesets
import Schemas

extension JSONForm {
    func readProperty(
        _ property: PropertySchema,
        from reader: inout JSONReader
    ) throws(FormError) -> Value {
        let type = elementType(of: property)
        if property.collection != .single, try reader.peek() == .null {
            // As in a column of its own, null means the default.
            try reader.readNull()
            return property.defaultValue
        }
        switch property.collection {
        case .single:
            return try readSlot(type, property.acceptsNull, level: 0, from: &reader)
        case .list:
            return .list(
                try readElements(from: &reader) { (reader) throws(FormError) in
                    try readSlot(type, property.acceptsNull, level: 1, from: &reader)
                }
            )
        case .set:
            let elements = try readElements(from: &reader) { (reader) throws(FormError) in
                try readSlot(type, property.acceptsNull, level: 1, from: &reader).setElement
            }
            return .set(ValueSet(elements))
        case .dictionary:
            var members: [Text: Value] = [:]
            try reader.expect(.object, .jsonObject)
            try reader.readObject { (reader, name) throws(FormError) in
                let key = try DictionaryKeyText.parse(name)
                members[key] = try inside(.key(key)) { () throws(FormError) in
                    try readSlot(type, property.acceptsNull, level: 1, from: &reader)
                }
            }
            return .dictionary(members)
        }
    }

    /// One value: of a property, a list element, or under a dictionary key.
    private func readSlot(
        _ type: ElementType,
        _ acceptsNull: Bool,
        level: Int,
        from reader: inout JSONReader
    ) throws(FormError) -> Value {
        if case .mixed = type { return try readMixed(level: level, from: &reader) }
        if try reader.peek() == .null {
            guard acceptsNull else { throw FormError(.null) }
            try reader.readNull()
            return .null
        }
        switch type {
        case .scalar(let scalar):
            return .scalar(try reader.readScalar(scalar))
        case .link(let target):
            return .scalar(.link(try readLink(to: target, from: &reader)))
        case .embedded(let className):
            guard let owner = schema[className] else { throw FormError(.unknownClass(className)) }
            return .object(try readDocument(of: owner, from: &reader))
        case .mixed:
            return try readMixed(level: level, from: &reader)
        }
    }

    func readDocument(
        of owner: ClassSchema,
        from reader: inout JSONReader
    ) throws(FormError) -> Document {
        var document = Document(defaultsOf: owner)
        try reader.expect(.object, .jsonObject)
        try reader.readObject { (reader, name) throws(FormError) in
            guard let position = owner.position(of: name) else {
                guard owner.primaryKey?.name == name else {
                    throw FormError(.unknownProperty(name))
                }
                _ = try reader.readNode()
                return
            }
            document.values[position] = try inside(.key(name)) { () throws(FormError) in
                try readProperty(owner.properties[position], from: &reader)
            }
        }
        return document
    }

    func readMembers(
        of owner: ClassSchema,
        from reader: inout JSONReader
    ) throws(FormError) -> (key: ObjectKey?, values: [Int: Value]) {
        var key: ObjectKey?
        var values: [Int: Value] = [:]
        try reader.expect(.object, .jsonObject)
        try reader.readObject { (reader, name) throws(FormError) in
            if let primaryKey = owner.primaryKey, primaryKey.name == name {
                key = try inside(.key(name)) { () throws(FormError) in
                    try reader.readKey().objectKey(primaryKey)
                }
                return
            }
            guard let position = owner.position(of: name) else {
                throw FormError(.unknownProperty(name))
            }
            values[position] = try inside(.key(name)) { () throws(FormError) in
                try readProperty(owner.properties[position], from: &reader)
            }
        }
        return (key, values)
    }

    /// A link whose class is in the schema: the key alone, or with its class as in Mixed.
    private func readLink(
        to target: LinkTarget,
        from reader: inout JSONReader
    ) throws(FormError) -> ObjectReference {
        if try reader.peek() == .object {
            let tagged = try reader.readTagged()
            switch tagged {
            case .link(let className, let key):
                guard className == target.className else {
                    throw FormError(.expected(.link(target.className)))
                }
                return ObjectReference(
                    className: className,
                    key: try key.objectKey(target.key)
                )
            case .scalar(.string(let text)):
                return ObjectReference(
                    className: target.className,
                    key: try JSONKey.text(text.bytes).objectKey(target.key)
                )
            case .scalar:
                throw FormError(.expected(.link(target.className)))
            }
        }
        return ObjectReference(
            className: target.className,
            key: try reader.readKey().objectKey(target.key)
        )
    }

    func readElements<Element>(
        from reader: inout JSONReader,
        _ read: (inout JSONReader) throws(FormError) -> Element
    ) throws(FormError) -> [Element] {
        var elements: [Element] = []
        try reader.expect(.array, .jsonArray)
        try reader.readArray { (reader, position) throws(FormError) in
            let element = try inside(.index(position)) { () throws(FormError) in
                try read(&reader)
            }
            elements.append(element)
        }
        return elements
    }

    /// Adds a step to the path of the body's errors.
    func inside<Result>(
        _ step: FormError.Step,
        _ body: () throws(FormError) -> Result
    ) throws(FormError) -> Result {
        do throws(FormError) {
            return try body()
        } catch {
            throw error.inside(step)
        }
    }
}

extension Value {
    /// Sets cannot contain collections or objects.
    fileprivate var setElement: Scalar {
        get throws(FormError) {
            guard case .scalar(let scalar) = self else { throw FormError(.collectionInSet) }
            return scalar
        }
    }
}
