package import Changesets
package import Schemas

/// A query whose names and types were checked against a schema by `QueryChecker`.
///
/// Like `ParsedQuery`, it keeps its nodes in arrays, so a walk needs no recursion.
package struct CheckedQuery: Hashable, Sendable {
    package let className: Text
    /// The text that was checked; offsets point into it.
    let text: [UInt8]
    var conditions: [CheckedCondition] = []
    /// Conditions from this index on are parts of one condition in the text.
    var writtenConditions = 0
    var operands: [CheckedOperand] = []
    var scopes: [CheckedScope] = []
    var root = 0
    var ordering: [CheckedOrdering] = []
}

enum CheckedCondition: Hashable, Sendable {
    case truth(Bool)
    case not(Int)
    /// In the order of the canonical text (query as recorded, 4).
    case all([Int])
    case any([Int])
    case comparison(CheckedComparison)
    /// A property equal to one of several constants of its type, each once.
    case isOneOf(operand: Int, [QueryValue], offset: Int)
    /// Both limits included.
    case between(operand: Int, QueryValue, QueryValue, offset: Int)
    /// An operand of a connective of the same kind, which took over its parts.
    case absorbed
}

struct CheckedComparison: Hashable, Sendable {
    var operation: ComparisonOperator
    var ignoresCase: Bool
    var left: Int
    var right: Int
    var form: Form
    /// The position of the operator.
    var offset: Int

    enum Form: Hashable, Sendable {
        /// A property of the object itself with a constant of its type on the right: null strings
        /// and NaN have their own rules there (query as recorded, 2 and 3).
        case plain(QueryType)
        /// Everything else: the rules of mixed values.
        case general
    }
}

enum CheckedOperand: Hashable, Sendable {
    case constant(CheckedConstant)
    case list([QueryValue], quantifier: Quantifier?, type: QueryType)
    // On the heap: operands are copied often, and these are ten times as large as the others.
    indirect case property(CheckedProperty)
    indirect case aggregate(CheckedAggregate)
    case subquery(scope: Int)
    case operation(ArithmeticOperator, Int, Int, quantifier: Quantifier?, type: QueryType)
}

struct CheckedConstant: Hashable, Sendable {
    let value: QueryValue
    /// The type of a null is that of the other side, if text or binary.
    let type: QueryType
    /// Whether it is the result of arithmetic on constants.
    let isFolded: Bool
}

/// A property of the class or of linked objects.
struct CheckedProperty: Hashable, Sendable {
    var hops: [Hop]
    var target: Target
    var part: Part
    var suffix: Suffix?
    var quantifier: Quantifier?
    /// The type of one value.
    var type: QueryType
    /// Name of the subquery's variable, if the path starts at its object.
    var scope: Int
    var offset: Int

    /// A step to other objects.
    enum Hop: Hashable, Sendable {
        case link(QueryField, target: Text, index: Index?)
        case backlink(className: Text, property: Text)
    }

    enum Target: Hashable, Sendable {
        case field(QueryField)
        /// The objects at the end of the hops.
        case object(className: Text)
        /// `@links`: all links to the object, through any of these properties.
        case referrers([PropertyName])
    }

    /// The part of the field's value.
    enum Part: Hashable, Sendable {
        case whole
        case keys
        /// `.length`: the length of each string.
        case length
        case path([Index])
    }

    enum Index: Hashable, Sendable {
        case position(Int)
        case last
        case all
        case key(Text)
    }

    enum Suffix: Hashable, Sendable {
        /// The number of links.
        case objectCount
        /// The number of elements or bytes.
        case size
        case kinds
    }
}

/// A property of one class, as read from an object.
package struct QueryField: Hashable, Sendable {
    package let className: Text
    package let name: Text
    /// Its position in the class; nil for the primary key.
    package let position: Int?
    package let type: PropertyType
    package let collection: CollectionType
    package let isNullable: Bool
}

struct CheckedAggregate: Hashable, Sendable {
    let function: AggregateFunction
    /// The list, or the property of the linked objects.
    let property: CheckedProperty
    /// Whether `property` is one of linked objects, whose name follows the function in the text.
    let isOfLinks: Bool
    let type: QueryType
}

struct CheckedScope: Hashable, Sendable {
    let className: Text
    /// The list of objects; nil for the query itself.
    let path: CheckedProperty?
    let parent: Int
    /// Subqueries around this one.
    let depth: Int
    var root: Int
}

enum CheckedOrdering: Hashable, Sendable {
    case sort([CheckedProperty], ascending: [Bool])
    case distinct([CheckedProperty])
    case limit(Int)
}
