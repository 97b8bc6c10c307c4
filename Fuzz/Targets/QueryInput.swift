import Changesets
import Documents
import Query
import Schemas
import ServerStore

enum QueryInput {
    static func run(_ bytes: [UInt8]) {
        let limits = QueryLimits(length: 64 << 10, nesting: 200)
        do throws(QueryError) {
            let parsed = try QueryParser.parse(bytes, limits: limits)
            let query = try QueryChecker.check(parsed, of: "Task", in: schema)
            let text = CanonicalText.write(query)
            do throws(QueryError) {
                let again = try QueryChecker.check(
                    QueryParser.parse(text),
                    of: "Task",
                    in: schema
                )
                check(CanonicalText.write(again) == text, "a canonical text is not canonical")
            } catch {
                fatalError("a canonical text is refused: \(error.message)")
            }
            _ = QueryEvaluator(query).matches(object)
        } catch {
            check(error.column > 0, "an error has no column")
        }
    }

    static func runAccessRule(_ bytes: [UInt8]) {
        do throws(QueryError) {
            _ = try AccessRule(String(decoding: bytes, as: UTF8.self))
        } catch {
            check(error.column > 0, "an error has no column")
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
