/// An index into a changeset's string table. Never compare indexes of different changesets.
package struct InternIndex: Hashable, Sendable {
    package let rawValue: UInt32

    package init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// A primary key in a changeset: a string is in the string table (changesets spec, 4.2).
package enum PrimaryKey: Hashable, Sendable {
    case null
    case int(Int64)
    case string(InternIndex)
    case objectID(ObjectID)
    case uuid(UniqueID)
    case globalKey(GlobalKey)
}

/// A step from a field into its value (changesets spec, 4.3).
package enum PathElement: Hashable, Sendable {
    case index(UInt32)
    /// A dictionary key, or the field name of an embedded object.
    case string(InternIndex)
}

/// One change, in the terms of its changeset's string table (changesets spec, 5).
package enum Instruction: Hashable, Sendable {
    case addTable(AddTable)
    case eraseTable(className: InternIndex)
    case createObject(ObjectTarget)
    case eraseObject(ObjectTarget)
    case update(Update)
    case addInteger(PathTarget, amount: Int64)
    case addColumn(AddColumn)
    case eraseColumn(className: InternIndex, field: InternIndex)
    case arrayInsert(PathTarget, Payload, priorSize: UInt32)
    case arrayMove(PathTarget, to: UInt32, priorSize: UInt32)
    case arrayErase(PathTarget, priorSize: UInt32)
    case clear(PathTarget, CollectionType)
    case setInsert(PathTarget, Payload)
    case setErase(SetErase)

    /// An object of a top-level class.
    package struct ObjectTarget: Hashable, Sendable {
        package var className: InternIndex
        package var key: PrimaryKey

        package init(className: InternIndex, key: PrimaryKey) {
            self.className = className
            self.key = key
        }
    }

    /// A place inside an object: a field, and the path from there ("PathHead", changesets spec,
    /// 4.6).
    package struct PathTarget: Hashable, Sendable {
        package var object: ObjectTarget
        package var field: InternIndex
        package var path: [PathElement]

        package init(object: ObjectTarget, field: InternIndex, path: [PathElement] = []) {
            self.object = object
            self.field = field
            self.path = path
        }

        /// The index at the end of the path, if there is one ("index path", changesets spec, 4.3).
        package var index: UInt32? {
            guard case .index(let index) = path.last else { return nil }
            return index
        }
    }

    package struct AddTable: Hashable, Sendable {
        package var className: InternIndex
        package var kind: Kind

        package enum Kind: Hashable, Sendable {
            case topLevel(PrimaryKeyColumn)
            case embedded
            case asymmetric(PrimaryKeyColumn)
        }

        package struct PrimaryKeyColumn: Hashable, Sendable {
            package var field: InternIndex
            package var type: PrimaryKeyType
            package var isNullable: Bool

            package init(field: InternIndex, type: PrimaryKeyType, isNullable: Bool) {
                self.field = field
                self.type = type
                self.isNullable = isNullable
            }
        }

        package init(className: InternIndex, kind: Kind) {
            self.className = className
            self.kind = kind
        }
    }

    package struct AddColumn: Hashable, Sendable {
        package var className: InternIndex
        package var field: InternIndex
        /// `.null` means Mixed. Codes below zero parse, and appliers refuse them.
        package var type: TypeCode
        package var isNullable: Bool
        package var collection: CollectionType
        /// Present exactly when `type` is `.link`.
        package var linkTarget: InternIndex?
        /// Present exactly when `collection` is `.dictionary`; appliers accept only `.string`.
        package var keyType: TypeCode?

        package init(
            className: InternIndex,
            field: InternIndex,
            type: TypeCode,
            isNullable: Bool,
            collection: CollectionType,
            linkTarget: InternIndex? = nil,
            keyType: TypeCode? = nil
        ) {
            self.className = className
            self.field = field
            self.type = type
            self.isNullable = isNullable
            self.collection = collection
            self.linkTarget = linkTarget
            self.keyType = keyType
        }
    }

    package struct Update: Hashable, Sendable {
        package var target: PathTarget
        package var payload: Payload
        package var detail: Detail

        /// The trailing field; the path alone decides which one (changesets spec, 5).
        package enum Detail: Hashable, Sendable {
            /// The path is empty or ends in a string.
            case isDefault(Bool)
            /// The path ends in an index: the number of list elements before the instruction.
            case priorSize(UInt32)
        }

        package init(target: PathTarget, payload: Payload, detail: Detail) {
            self.target = target
            self.payload = payload
            self.detail = detail
        }
    }

    package struct SetErase: Hashable, Sendable {
        package var target: PathTarget
        package var payload: Payload
        /// The position of the payload's bytes in the changeset's string buffer (changesets spec,
        /// 8); 0 for payloads that are not strings or binaries. Only one quirk of the merge uses
        /// it.
        package var bufferOffset: UInt64

        package init(target: PathTarget, payload: Payload, bufferOffset: UInt64 = 0) {
            self.target = target
            self.payload = payload
            self.bufferOffset = bufferOffset
        }
    }
}

/// The types a primary key can have (changesets spec, 5, AddTable).
package enum PrimaryKeyType: Sendable, Hashable, CaseIterable {
    case int
    case string
    case objectID
    case uuid
    /// The class has no primary key; its objects carry a `GlobalKey`.
    case globalKey

    package var typeCode: TypeCode {
        switch self {
        case .int: .int
        case .string: .string
        case .objectID: .objectID
        case .uuid: .uuid
        case .globalKey: .globalKey
        }
    }

    package init?(_ code: TypeCode) {
        guard let type = Self.allCases.first(where: { $0.typeCode == code }) else { return nil }
        self = type
    }
}
