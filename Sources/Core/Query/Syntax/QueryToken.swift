/// A word, sign or constant of a query, and the bytes it takes.
struct QueryToken: Hashable {
    let kind: Kind
    let range: Range<Int>

    enum Kind: Hashable {
        case end
        // Signs.
        case plus, minus, star, slash
        case leftParenthesis, rightParenthesis, leftBracket, rightBracket, leftBrace, rightBrace
        case comma, dot
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        case and, or, not
        case ignoringCase
        // Words that cannot be property names.
        case any, all, none
        case truePredicate, falsePredicate
        case `true`, `false`, null
        case geoWithin, geoBox, geoCircle, geoPolygon
        case subquery, object
        case count, type, max, min, sum, average
        // Words that can also be property names.
        case `in`, beginsWith, endsWith, contains, like, between, text
        case sort, distinct, limit, ascending, descending
        case binary, first, last, size
        case links, keysOrValues
        case identifier
        // Constants.
        case infinity, notANumber
        case natural, number, float
        case string, base64
        case timestamp, objectID, uuid
        case link, typedLink
        case argument, keyPathArgument
    }
}

extension QueryToken.Kind {
    /// Whether the token can be an element of a property path.
    var isName: Bool {
        switch self {
        case .identifier, .links, .keysOrValues, .beginsWith, .endsWith, .contains, .like, .between,
            .text, .in, .sort, .distinct, .limit, .ascending, .descending, .binary, .first, .last,
            .size:
            true
        default:
            false
        }
    }

    /// The words of flexible sync, 12.1, by their spelling in lower case.
    private static let wordsInAnyCase: [String: QueryToken.Kind] = [
        "and": .and, "or": .or,
        "beginswith": .beginsWith, "endswith": .endsWith, "contains": .contains, "text": .text,
        "like": .like, "between": .between, "geowithin": .geoWithin,
        "truepredicate": .truePredicate, "falsepredicate": .falsePredicate,
        "sort": .sort, "distinct": .distinct, "limit": .limit,
        "ascending": .ascending, "asc": .ascending,
        "descending": .descending, "desc": .descending,
        "subquery": .subquery, "obj": .object, "bin": .binary, "binary": .binary,
        "geobox": .geoBox, "geopolygon": .geoPolygon, "geocircle": .geoCircle,
        "inf": .infinity, "infinity": .infinity, "nan": .notANumber,
        "null": .null, "nil": .null,
    ]

    private static let exactWords: [String: QueryToken.Kind] = [
        "in": .in, "IN": .in, "not": .not, "NOT": .not,
        "any": .any, "ANY": .any, "some": .any, "SOME": .any,
        "all": .all, "ALL": .all, "none": .none, "NONE": .none,
        "true": .true, "TRUE": .true, "false": .false, "FALSE": .false,
        "first": .first, "FIRST": .first, "last": .last, "LAST": .last,
        "size": .size, "SIZE": .size,
    ]

    /// The kind of a word of at most 16 bytes that is not just a name.
    static func kind(ofWord word: ArraySlice<UInt8>) -> QueryToken.Kind? {
        packedExactWords[pack(word)] ?? packedWordsInAnyCase[pack(word.lazy.map(lowerCase))]
    }

    // Words as numbers: looking up strings took a third of the lexer's time.
    private static let packedExactWords = packed(exactWords)
    private static let packedWordsInAnyCase = packed(wordsInAnyCase)

    private static func packed(_ words: [String: QueryToken.Kind]) -> [UInt128: QueryToken.Kind] {
        Dictionary(uniqueKeysWithValues: words.map { (pack($0.key.utf8), $0.value) })
    }

    private static func pack(_ word: some Sequence<UInt8>) -> UInt128 {
        word.reduce(0) { $0 << 8 | UInt128($1) }
    }

    private static func lowerCase(_ byte: UInt8) -> UInt8 {
        (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
    }

    static let wordsAfterAt: [String: QueryToken.Kind] = [
        "@count": .count, "@size": .count, "@type": .type, "@keys": .keysOrValues,
        "@values": .keysOrValues, "@links": .links, "@max": .max, "@min": .min, "@sum": .sum,
        "@avg": .average,
    ]
}
