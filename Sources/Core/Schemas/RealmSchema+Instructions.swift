package import Changesets

/// The effects of schema instructions (instruction semantics, 3.1-3.4).
///
/// Each function either changes the schema and returns the change, or returns nil if the schema
/// already has it, or throws and changes nothing.
extension RealmSchema {
    /// Applies the schema instructions of a changeset.
    package mutating func apply(schemaOf changeset: Changeset) throws(BadInstruction) {
        for instruction in changeset.instructions {
            _ = try apply(instruction, strings: changeset.strings)
        }
    }

    /// Applies AddTable, EraseTable, AddColumn or EraseColumn; instructions on objects change nothing.
    package mutating func apply(
        _ instruction: Instruction,
        strings: StringTable
    ) throws(BadInstruction) -> SchemaChange? {
        switch instruction {
        case .addTable(let table):
            try addClass(strings[table.className], table.kind(strings))
        case .eraseTable(let className):
            try eraseClass(strings[className])
        case .addColumn(let column):
            try addProperty(column, strings)
        case .eraseColumn(let className, let field):
            try eraseProperty(strings[field], of: strings[className])
        case .createObject, .eraseObject, .update, .addInteger, .arrayInsert, .arrayMove,
            .arrayErase, .clear, .setInsert, .setErase:
            nil
        }
    }

    package mutating func addClass(
        _ name: Text,
        _ kind: ClassSchema.Kind
    ) throws(BadInstruction) -> SchemaChange? {
        if let existing = self[name] {
            guard existing.kind == kind else {
                throw BadInstruction(
                    .conflict(
                        SchemaConflict(
                            className: name,
                            existing: existing.kind.definition,
                            declared: kind.definition
                        )
                    )
                )
            }
            return nil
        }
        let schema = ClassSchema(name: name, kind: kind)
        try Self.check(name, limit: FormatLimits.classNameSizeInBytes)
        if let key = schema.primaryKey {
            try Self.check(key.name, limit: FormatLimits.propertyNameSizeInBytes)
        }
        update(schema)
        return .classAdded(schema)
    }

    package mutating func eraseClass(_ name: Text) throws(BadInstruction) -> SchemaChange? {
        guard let schema = self[name] else { throw BadInstruction(.unknownClass(name)) }
        let source = classes.first { other in
            other.name != name && other.properties.contains { $0.type == .link(target: name) }
        }
        if let source { throw BadInstruction(.classIsLinked(name, from: source.name)) }
        remove(name)
        return .classErased(schema)
    }

    package mutating func addProperty(
        _ property: PropertySchema,
        to className: Text
    ) throws(BadInstruction) -> SchemaChange? {
        guard let position = position(of: className) else {
            throw BadInstruction(.unknownClass(className))
        }
        let schema = classes[position]
        if let existing = schema.definingProperty(named: property.name) {
            guard existing.hasSameType(as: property) else {
                throw BadInstruction(
                    .conflict(
                        SchemaConflict(
                            className: className,
                            property: property.name,
                            existing: definition(of: existing),
                            declared: definition(of: property)
                        )
                    )
                )
            }
            // Nullability is not compared here: the merge has done so (instruction semantics, 3.3).
            return nil
        }
        try checkNew(property, of: schema)
        withClass(at: position) { $0.update(property) }
        return .propertyAdded(property, className: className)
    }

    package mutating func eraseProperty(
        _ name: Text,
        of className: Text
    ) throws(BadInstruction) -> SchemaChange? {
        guard let classPosition = position(of: className) else {
            throw BadInstruction(.unknownClass(className))
        }
        let schema = classes[classPosition]
        if let key = schema.primaryKey, key.type != .globalKey, key.name == name {
            throw BadInstruction(.primaryKeyChange(className))
        }
        guard let position = schema.position(of: name) else {
            throw BadInstruction(.unknownProperty(name, in: className))
        }
        withClass(at: classPosition) { $0.remove(name) }
        return .propertyErased(
            schema.properties[position],
            className: className,
            position: position
        )
    }
}

// MARK: Allowed additions

extension RealmSchema {
    /// The most properties of a class, without its primary key.
    package static let propertyLimit = 65_535

    private mutating func addProperty(
        _ column: Instruction.AddColumn,
        _ strings: StringTable
    ) throws(BadInstruction) -> SchemaChange? {
        let className = strings[column.className]
        let name = strings[column.field]
        guard let schema = self[className] else { throw BadInstruction(.unknownClass(className)) }
        let target = column.linkTarget.map { strings[$0] }
        guard let type = PropertyType(column.type, target: target) else {
            throw BadInstruction(
                .impossibleProperty(name, in: className, reason: .typeCode(column.type))
            )
        }
        if let keyType = column.keyType, keyType != .string,
            schema.definingProperty(named: name) == nil
        {
            throw BadInstruction(
                .impossibleProperty(name, in: className, reason: .keyType(keyType))
            )
        }
        let property = PropertySchema(
            name: name,
            type: type,
            isNullable: column.isNullable,
            collection: column.collection
        )
        return try addProperty(property, to: className)
    }

    private func checkNew(
        _ property: PropertySchema,
        of schema: ClassSchema
    ) throws(BadInstruction) {
        try Self.check(property.name, limit: FormatLimits.propertyNameSizeInBytes)
        guard schema.properties.count < Self.propertyLimit else {
            throw BadInstruction(.tooManyProperties(schema.name))
        }
        guard case .link(let target) = property.type else { return }
        let reason: BadInstruction.PropertyProblem? =
            switch self[target]?.kind {
            case nil: .unknownTarget(target)
            case .asymmetric: .asymmetricTarget(target)
            case .embedded where property.collection == .set: .setOfEmbedded
            case .embedded, .topLevel: nil
            }
        if let reason {
            throw BadInstruction(
                .impossibleProperty(property.name, in: schema.name, reason: reason)
            )
        }
    }

    private static func check(_ name: Text, limit: Int) throws(BadInstruction) {
        guard name.bytes.count <= limit else {
            throw BadInstruction(.badName(name, .tooLong(limit: limit)))
        }
        guard name.string != nil else { throw BadInstruction(.badName(name, .notUTF8)) }
        // SQL text cannot contain it.
        guard !name.bytes.contains(0) else { throw BadInstruction(.badName(name, .holdsNull)) }
    }
}

extension ClassSchema {
    /// The property of that name, the primary key included: it counts as a column when another of
    /// its name is added.
    fileprivate func definingProperty(named name: Text) -> PropertySchema? {
        guard let key = primaryKey, key.name == name else { return property(named: name) }
        let type: PropertyType? =
            switch key.type {
            case .int: .int
            case .string: .string
            case .objectID: .objectID
            case .uuid: .uuid
            case .globalKey: nil
            }
        guard let type else { return property(named: name) }
        return PropertySchema(name: name, type: type, isNullable: key.isNullable)
    }
}

// MARK: From the wire

extension Instruction.AddTable {
    fileprivate func kind(_ strings: StringTable) -> ClassSchema.Kind {
        switch kind {
        case .topLevel(let column): .topLevel(column.schema(strings))
        case .embedded: .embedded
        case .asymmetric(let column): .asymmetric(column.schema(strings))
        }
    }
}

extension Instruction.AddTable.PrimaryKeyColumn {
    fileprivate func schema(_ strings: StringTable) -> PrimaryKeySchema {
        type == .globalKey
            ? .none
            : PrimaryKeySchema(name: strings[field], type: type, isNullable: isNullable)
    }
}

extension PropertyType {
    /// Nil for the type codes that no property can have, and for links without a target.
    package init?(_ code: TypeCode, target: Text?) {
        switch code {
        case .null: self = .mixed
        case .int: self = .int
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        case .link:
            guard let target else { return nil }
            self = .link(target: target)
        case .set, .list, .erased, .dictionary, .objectValue, .globalKey:
            return nil
        }
    }
}
