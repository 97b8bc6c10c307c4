import Changesets

/// A query as written, before its class is known (flexible sync, 12.2).
///
/// The nodes of the tree are in two arrays, each after its parts, so a walk is a loop and no depth
/// of a hostile text can overflow a stack.
package struct ParsedQuery: Hashable, Sendable {
    /// The text that was parsed; offsets in the tree point into it.
    package let text: [UInt8]
    var conditions: [ConditionSyntax] = []
    var expressions: [ExpressionSyntax] = []
    /// The query itself is scope 0; each subquery opens another.
    var scopes: [ScopeSyntax] = []
    /// Index of the whole condition.
    var root = 0
    /// SORT, DISTINCT and LIMIT, in the order of the text.
    var ordering: [OrderingSyntax] = []

    init(text: [UInt8]) {
        self.text = text
    }
}

enum ConditionSyntax: Hashable, Sendable {
    case truth(Bool, offset: Int)
    case not(Int)
    case and(Int, Int)
    case or(Int, Int)
    case comparison(ComparisonSyntax)
    case between(ComparedPair, offset: Int, scope: Int)
    case geoWithin(PropertySyntax, offset: Int, scope: Int)
}

/// Two indexes of `Query.expressions`.
struct ComparedPair: Hashable, Sendable {
    let left: Int
    let right: Int
}

struct ComparisonSyntax: Hashable, Sendable {
    let operation: ComparisonOperator
    let ignoresCase: Bool
    let sides: ComparedPair
    /// The position of the operator.
    let offset: Int
    let scope: Int
}

package enum ComparisonOperator: Hashable, Sendable, CaseIterable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    case `in`
    case beginsWith, endsWith, contains, like, text
}

enum ExpressionSyntax: Hashable, Sendable {
    case constant(ConstantSyntax)
    case list(ListSyntax)
    case property(PropertySyntax)
    case aggregate(AggregateSyntax)
    /// The number of objects a subquery finds.
    case subquery(scope: Int, offset: Int)
    case operation(ArithmeticOperator, ComparedPair, offset: Int)
}

enum ArithmeticOperator: UInt8, Hashable, Sendable {
    case plus, minus, times, dividedBy

    var sign: String {
        switch self {
        case .plus: "+"
        case .minus: "-"
        case .times: "*"
        case .dividedBy: "/"
        }
    }
}

struct ConstantSyntax: Hashable, Sendable {
    let literal: Literal
    let offset: Int

    enum Literal: Hashable, Sendable {
        case value(QueryValue)
        /// A floating-point number, with its text for a more precise type.
        case number(QueryValue, text: [UInt8])
        case object(className: [UInt8], key: QueryValue)
        /// `O5`, `L1:2`: object numbers of one file.
        case internalLink
        case argument(Int)
    }
}

struct ListSyntax: Hashable, Sendable {
    let quantifier: Quantifier?
    let elements: [ConstantSyntax]
    let offset: Int
}

package enum Quantifier: Hashable, Sendable {
    case any, all, none
}

struct PropertySyntax: Hashable, Sendable {
    let quantifier: Quantifier?
    let path: PathSyntax
    let suffix: Suffix?

    enum Suffix: Hashable, Sendable {
        /// `.@count`, `.@size`, `[SIZE]`: the word as written.
        case count(String)
        case type
    }
}

struct PathSyntax: Hashable, Sendable {
    var elements: [Element]
    let offset: Int

    enum Element: Hashable, Sendable {
        /// A name between dots.
        case name(Text)
        case index(Int)
        case first, last, all
        /// `['key']`.
        case key(Text)
        case argument(Int)
    }
}

struct AggregateSyntax: Hashable, Sendable {
    let path: PathSyntax
    let function: AggregateFunction
    /// The property of the linked objects.
    let property: Text?
}

enum AggregateFunction: String, Hashable, Sendable {
    case max = "@max"
    case min = "@min"
    case sum = "@sum"
    case average = "@avg"
}

struct ScopeSyntax: Hashable, Sendable {
    /// The list whose objects the subquery filters; nil for the query itself.
    let path: PathSyntax?
    /// With its dollar sign; empty for the query itself.
    let variable: Text
    let parent: Int
    /// Index of the condition.
    var root = 0
    let offset: Int
}

enum OrderingSyntax: Hashable, Sendable {
    case sort([PathSyntax], ascending: [Bool], offset: Int)
    case distinct([PathSyntax], offset: Int)
    case limit(Int64, offset: Int)

    var offset: Int {
        switch self {
        case .sort(_, _, let offset), .distinct(_, let offset), .limit(_, let offset): offset
        }
    }
}
