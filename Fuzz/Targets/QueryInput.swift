import Changesets
import Documents
import Query
import Schemas
import ServerStore

enum QueryInput {
    static func run(_ bytes: [UInt8], _ claims: inout Claims) {
        let limits = QueryLimits(length: 64 << 10, nesting: 200)
        do throws(QueryError) {
            let parsed = try QueryParser.parse(bytes, limits: limits)
            let query = try QueryChecker.check(parsed, of: "Task", in: schema)
            _ = QueryEvaluator(query).matches(object)
            reread(CanonicalText.write(query), &claims)
        } catch {
            claims.check(error.column > 0, "an error has no column")
        }
    }

    /// The canonical text is written once, and is not a fixed point: operands of AND and OR change their order, numbers
    /// lose digits, and a folded constant may be of another type (query as recorded, 4 to 6). But it follows the grammar,
    /// unless a key of a dictionary has a quote (51), and no word is lost or added.
    private static func reread(_ text: [UInt8], _ claims: inout Claims) {
        do throws(QueryError) {
            let again = try QueryChecker.check(QueryParser.parse(text), of: "Task", in: schema)
            let rewritten = CanonicalText.write(again)
            claims.check(
                letters(of: rewritten) == letters(of: text),
                "a canonical text has other words when it is written again: "
                    + String(decoding: text + [UInt8(ascii: "\n")] + rewritten, as: UTF8.self)
            )
        } catch {
            claims.check(
                error.code != .syntax || text.contains(Array("['".utf8)),
                "a canonical text is malformed: \(error.message)"
            )
        }
    }

    /// All but numbers, whose exponents depend on their digits; in capitals, since `inf` of a float becomes `Inf` of a
    /// decimal.
    private static func letters(of text: [UInt8]) -> [UInt8] {
        var letters: [UInt8] = []
        var isInNumber = false
        for byte in text {
            let isLetter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xdf)
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            isInNumber = isDigit || isInNumber && isLetter
            if isLetter, !isInNumber { letters.append(byte & 0xdf) }
        }
        return letters.sorted()
    }

    static func runAccessRule(_ bytes: [UInt8], _ claims: inout Claims) {
        do throws(QueryError) {
            _ = try AccessRule(String(decoding: bytes, as: UTF8.self))
        } catch {
            claims.check(error.column > 0, "an error has no column")
        }
    }

    private static let owner = ClassSchema(
        name: "Task",
        kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
        properties: [
            PropertySchema(name: "title", type: .string, isNullable: true),
            PropertySchema(name: "count", type: .int, isNullable: false),
            PropertySchema(name: "price", type: .decimal, isNullable: true),
            PropertySchema(name: "ratio", type: .double, isNullable: false),
            PropertySchema(name: "at", type: .timestamp, isNullable: true),
            PropertySchema(name: "any", type: .mixed, isNullable: true),
            PropertySchema(name: "tags", type: .string, isNullable: false, collection: .list),
            PropertySchema(name: "notes", type: .int, isNullable: true, collection: .dictionary),
        ]
    )

    private static let schema = RealmSchema([owner])

    private static let object = DocumentObject(key: .int(1), Document(defaultsOf: owner), of: owner)
}
