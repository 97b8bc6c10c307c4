package import Changesets

/// An instruction that does not fit the state it meets: a "bad changeset" (instruction semantics,
/// 4).
///
/// Everything the batch has done so far must be rolled back.
package struct BadInstruction: Error, Hashable, Sendable {
    package let problem: Problem
    /// Position of the instruction in its changeset; nil if no changeset is known.
    package private(set) var position: Int?

    /// The code under which `docs/errors.md` lists it.
    package static let code = "protocol.bad_changeset"

    package init(_ problem: Problem, at position: Int? = nil) {
        self.problem = problem
        self.position = position
    }

    /// The same error, for the instruction at that position.
    package func at(_ position: Int) -> BadInstruction {
        BadInstruction(problem, at: position)
    }

    package enum Problem: Hashable, Sendable {
        // The schema.
        case unknownClass(Text)
        case unknownProperty(Text, in: Text)
        case badName(Text, NameProblem)
        /// Another definition of an existing class or property.
        case conflict(SchemaConflict)
        case tooManyProperties(Text)
        /// A property of this type cannot be added.
        case impossibleProperty(Text, in: Text, reason: PropertyProblem)
        /// Another class has links to the one to be erased.
        case classIsLinked(Text, from: Text)
        case primaryKeyChange(Text)

        // The object.
        case embeddedClass(Text)
        case wrongKeyType(Text)
        case missingObject(Text)

        // The path into the object.
        case expectedIndex
        case expectedKey
        case indexOutOfRange(index: UInt32, size: Int)
        case missingKey
        case illegalKey
        /// The path leads through null, a scalar, a link or a set.
        case deadEnd
        /// The path ends where the instruction cannot be applied.
        case wrongTarget

        // The value.
        case nullNotAllowed
        case wrongPayload(TypeCode)
        case wrongLinkTarget(Text)
        case stringTooLong(sizeInBytes: Int)
        case binaryTooLong(sizeInBytes: Int)
        case nestedTooDeeply
        case notAnInteger
        case wrongCollectionType(CollectionType)
        case wrongPriorSize(UInt32, size: Int)
        case moveToSamePlace

        // What a server leaves out or limits.
        /// An earlier change to the same property did not fit, so its positions have another
        /// meaning.
        case unclearPosition
        /// It assumes another list than the server's changes.
        case impossibleMerge
        case setsTooLarge(limitInBytes: Int)
        /// It would make the object larger than the server allows.
        case objectTooLarge
        /// It puts a list or a dictionary into a mixed property, where the app allows none.
        case collectionInMixed
    }

    package enum NameProblem: Hashable, Sendable {
        case notUTF8
        case holdsNull
        case tooLong(limit: Int)
    }

    package enum PropertyProblem: Hashable, Sendable {
        case typeCode(TypeCode)
        case keyType(TypeCode)
        case unknownTarget(Text)
        case asymmetricTarget(Text)
        case setOfEmbedded
    }
}

extension BadInstruction: CustomStringConvertible {
    package var description: String {
        position.map { "instruction \($0): \(problem)" } ?? problem.description
    }
}

extension BadInstruction.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownClass(let name): "there is no class \(name)"
        case .unknownProperty(let name, let className): "\(className) has no property \(name)"
        case .badName(let name, let problem): "the name \(name) \(problem)"
        case .conflict(let conflict): conflict.description
        case .tooManyProperties(let className):
            "\(className) already has \(RealmSchema.propertyLimit) properties"
        case .impossibleProperty(let name, let className, let reason):
            "\(className).\(name) cannot be added: \(reason)"
        case .classIsLinked(let name, let source):
            "\(name) cannot be erased while \(source) has links to it"
        case .primaryKeyChange(let className): "the primary key of \(className) cannot change"
        case .embeddedClass(let name): "objects of \(name) are embedded and have no key"
        case .wrongKeyType(let className): "the key is not of the type that \(className) has"
        case .missingObject(let className): "there is no such object of \(className)"
        case .expectedIndex: "the path needs an index at a list"
        case .expectedKey: "the path needs a name or key at an object or dictionary"
        case .indexOutOfRange(let index, let size): "index \(index) in a list of \(size)"
        case .missingKey: "the dictionary has no such key"
        case .illegalKey: "a dictionary key cannot contain \".\" or start with \"$\""
        case .deadEnd: "the path leads through a value that holds no others"
        case .wrongTarget: "the path ends where this instruction cannot act"
        case .nullNotAllowed: "null is not allowed here"
        case .wrongPayload(let code): "a value of type \(code) does not fit here"
        case .wrongLinkTarget(let className): "a link to \(className) does not fit here"
        case .stringTooLong(let size):
            "a string of \(size) bytes; at most \(FormatLimits.stringSizeInBytes) fit"
        case .binaryTooLong(let size):
            "a binary of \(size) bytes; at most \(FormatLimits.binarySizeInBytes) fit"
        case .nestedTooDeeply:
            "collections nested more than \(FormatLimits.nestingDepth) levels deep"
        case .notAnInteger: "an amount is added to a value that is not an integer"
        case .wrongCollectionType(let type): "there is no \(type) here"
        case .wrongPriorSize(let priorSize, let size):
            "prior size \(priorSize) for a list of \(size)"
        case .moveToSamePlace: "an element is moved to where it is"
        case .unclearPosition: "an earlier change to the same property did not fit"
        case .objectTooLarge: "the object would be larger than the server allows"
        case .collectionInMixed: "the app allows no list or dictionary in a mixed property"
        case .impossibleMerge: "it assumes a different list than the server's changes"
        case .setsTooLarge(let limit):
            "null is erased from sets of more than \(limit) bytes in all"
        }
    }
}

extension BadInstruction.NameProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notUTF8: "is not UTF-8"
        case .holdsNull: "contains U+0000"
        case .tooLong(let limit): "is longer than \(limit) bytes"
        }
    }
}

extension BadInstruction.PropertyProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .typeCode(let code): "a property cannot have type \(code)"
        case .keyType(let code): "keys of a dictionary are strings, not of type \(code)"
        case .unknownTarget(let name): "it links to \(name), which does not exist"
        case .asymmetricTarget(let name): "it links to \(name), which is asymmetric"
        case .setOfEmbedded: "a set cannot hold embedded objects"
        }
    }
}
