/// Writes the changeset of a local transaction as it happens: each string is interned just before
/// the first instruction that needs it (changesets spec, 9, "live writer").
///
/// Strings are interned in order of need: class, key, field, path, then the payload.
package struct ChangesetWriter {
    var encoder = ChangesetEncoder()
    private var strings = StringTable()
    var instructionCount = 0
    private var lastClass = InternIndex(0)
    private var lastField = InternIndex(0)

    package init() {}

    /// Nothing was written, so there is nothing to upload.
    package var isEmpty: Bool { instructionCount == 0 }

    package var bytes: [UInt8] { encoder.bytes }

    package var sizeInBytes: Int { encoder.sizeInBytes }

    /// A step of a path, independent of any string table.
    package enum Step: Hashable, Sendable {
        case index(UInt32)
        case string(Text)
    }

    /// The content that an instruction stores: a value, or the start of a collection or embedded
    /// object.
    package enum Content: Hashable, Sendable {
        case scalar(Scalar)
        case objectValue
        case list
        case dictionary
        case erased
    }
}

// MARK: Schema

extension ChangesetWriter {
    package mutating func addTopLevelClass(
        _ name: Text,
        primaryKey: Text,
        type: PrimaryKeyType,
        isNullable: Bool,
        isAsymmetric: Bool = false
    ) {
        let className = intern(name)
        let column = Instruction.AddTable.PrimaryKeyColumn(
            field: intern(primaryKey),
            type: type,
            isNullable: isNullable
        )
        let kind: Instruction.AddTable.Kind =
            isAsymmetric ? .asymmetric(column) : .topLevel(column)
        write(.addTable(.init(className: className, kind: kind)))
    }

    package mutating func addEmbeddedClass(_ name: Text) {
        write(.addTable(.init(className: intern(name), kind: .embedded)))
    }

    /// Adds a column; `linkTarget` must be given exactly when the type is a link.
    package mutating func addColumn(
        _ field: Text,
        to className: Text,
        type: TypeCode,
        isNullable: Bool,
        collection: CollectionType,
        linkTarget: Text? = nil
    ) {
        precondition((type == .link) == (linkTarget != nil), "a link column names its target")
        write(
            .addColumn(
                .init(
                    className: intern(className),
                    field: intern(field),
                    type: type,
                    isNullable: isNullable,
                    collection: collection,
                    linkTarget: linkTarget.map { intern($0) },
                    keyType: collection == .dictionary ? .string : nil
                )
            )
        )
    }
}

// MARK: Objects and values

extension ChangesetWriter {
    package mutating func createObject(_ object: ObjectReference) {
        write(.createObject(target(object)))
    }

    package mutating func eraseObject(_ object: ObjectReference) {
        write(.eraseObject(target(object)))
    }

    /// Sets a field, a dictionary key, or a field of an embedded object.
    package mutating func update(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step] = [],
        to content: Content,
        isDefault: Bool = false
    ) {
        guard !path.isEmpty else {
            let target = target(object)
            let field = internField(field)
            encoder.writeUpdate(
                of: field,
                in: target,
                to: payload(content),
                isDefault: isDefault
            )
            instructionCount += 1
            return
        }
        let target = target(object, field, path)
        write(
            .update(.init(target: target, payload: payload(content), detail: .isDefault(isDefault)))
        )
    }

    /// Replaces a list element; the path must end in its index.
    package mutating func updateElement(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step],
        to content: Content,
        priorSize: UInt32
    ) {
        let target = target(object, field, path)
        write(
            .update(.init(target: target, payload: payload(content), detail: .priorSize(priorSize)))
        )
    }

    package mutating func addInteger(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step] = [],
        amount: Int64
    ) {
        write(.addInteger(target(object, field, path), amount: amount))
    }

    package mutating func arrayInsert(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step],
        _ content: Content,
        priorSize: UInt32
    ) {
        let target = target(object, field, path)
        write(.arrayInsert(target, payload(content), priorSize: priorSize))
    }

    package mutating func arrayMove(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step],
        to: UInt32,
        priorSize: UInt32
    ) {
        write(.arrayMove(target(object, field, path), to: to, priorSize: priorSize))
    }

    package mutating func arrayErase(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step],
        priorSize: UInt32
    ) {
        write(.arrayErase(target(object, field, path), priorSize: priorSize))
    }

    package mutating func clear(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step] = [],
        _ collection: CollectionType
    ) {
        write(.clear(target(object, field, path), collection))
    }

    package mutating func setInsert(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step] = [],
        _ value: Scalar
    ) {
        let target = target(object, field, path)
        write(.setInsert(target, payload(.scalar(value))))
    }

    package mutating func setErase(
        _ object: ObjectReference,
        _ field: Text,
        path: [Step] = [],
        _ value: Scalar
    ) {
        let target = target(object, field, path)
        write(.setErase(.init(target: target, payload: payload(.scalar(value)))))
    }
}

// MARK: Interning

extension ChangesetWriter {
    private mutating func write(_ instruction: Instruction) {
        encoder.write(instruction)
        instructionCount += 1
    }

    private mutating func intern(_ text: Text) -> InternIndex {
        if let index = strings.index(of: text) { return index }
        let index = strings.intern(text)
        encoder.writeInternRecord(index, text)
        return index
    }

    /// Usually the class of the previous instruction: comparing is cheaper than hashing.
    private mutating func internClass(_ name: Text) -> InternIndex {
        if !strings.contains(lastClass) || strings[lastClass] != name { lastClass = intern(name) }
        return lastClass
    }

    /// Usually the field that followed this one in the previous object.
    mutating func internField(_ name: Text) -> InternIndex {
        let next = InternIndex(lastField.rawValue + 1)
        lastField = strings.contains(next) && strings[next] == name ? next : intern(name)
        return lastField
    }

    mutating func target(_ object: ObjectReference) -> Instruction.ObjectTarget {
        .init(className: internClass(object.className), key: primaryKey(object.key))
    }

    private mutating func target(
        _ object: ObjectReference,
        _ field: Text,
        _ path: [Step]
    ) -> Instruction.PathTarget {
        let object = target(object)
        let field = internField(field)
        var elements: [PathElement] = []
        for step in path {
            switch step {
            case .index(let index): elements.append(.index(index))
            case .string(let text): elements.append(.string(intern(text)))
            }
        }
        return .init(object: object, field: field, path: elements)
    }

    private mutating func primaryKey(_ key: ObjectKey) -> PrimaryKey {
        switch key {
        case .null: .null
        case .int(let value): .int(value)
        case .string(let text): .string(intern(text))
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        case .globalKey(let value): .globalKey(value)
        }
    }

    private mutating func payload(_ content: Content) -> Payload {
        switch content {
        case .scalar(let scalar): payload(scalar)
        case .objectValue: .objectValue
        case .list: .list
        case .dictionary: .dictionary
        case .erased: .erased
        }
    }

    mutating func payload(_ scalar: Scalar) -> Payload {
        if case .link(let link) = scalar {
            return .link(className: intern(link.className), key: primaryKey(link.key))
        }
        guard let payload = Payload(withoutStrings: scalar) else {
            preconditionFailure("only links have strings")
        }
        return payload
    }
}
