import Changesets
import Query
import Schemas
import Settings

/// A subscription with the positions of its keys.
struct LocatedSubscription {
    let configuration: SubscriptionConfiguration
    fileprivate let classReader: NodeReader
    /// Nil without a query.
    fileprivate let queryReader: NodeReader?
    fileprivate let query: QueryTemplateReader.Result?
}

/// Reads the subscriptions of a realm with flexible sync.
struct SubscriptionReader {
    let templates: TemplateReader

    func read(_ reader: NodeReader) -> [LocatedSubscription]? {
        var names: Set<String> = []
        return reader.elements { element in
            element.mapping { keys in
                let name = keys.optional("name") { reader in
                    let name = reader.string()
                    if let name, !names.insert(name).inserted {
                        reader.report(
                            .conflict,
                            "\(quoted(name)) is the name of another subscription of this realm",
                            remedy: "give each a name of its own"
                        )
                    }
                    return name
                }
                var classReader = element
                let className = keys.required("class") { reader in
                    classReader = reader
                    return reader.string(
                        matching: { $0.utf8.count <= 57 },
                        expected: "the name of a class, of up to 57 bytes"
                    )
                }
                var queryReader: NodeReader?
                var query: QueryTemplateReader.Result?
                _ = keys.optional("query") { reader in
                    queryReader = reader
                    query = readQuery(reader)
                    return query
                }
                guard let className, queryReader == nil || query != nil else { return nil }
                return LocatedSubscription(
                    configuration: SubscriptionConfiguration(
                        name: name,
                        className: className,
                        query: query?.template ?? SubscriptionConfiguration.everything
                    ),
                    classReader: classReader,
                    queryReader: queryReader,
                    query: query
                )
            }
        }
    }

    /// Checks the grammar and the restrictions of subscriptions, for which no schema is needed.
    private func readQuery(_ reader: NodeReader) -> QueryTemplateReader.Result? {
        guard let text = reader.string() else { return nil }
        var scanner = QueryTemplateReader(text, at: reader, templates)
        guard let query = scanner.read() else { return nil }
        do throws(QueryError) {
            try SubscriptionRules.checkSyntax(of: query.sampleText)
            return query
        } catch {
            report(error, of: query, at: reader)
            return nil
        }
    }

    /// Checks names and types against the declared schema. The server knows which properties are
    /// queryable.
    func check(_ subscriptions: [LocatedSubscription], in schema: RealmSchema) {
        let rules = SubscriptionRules(schema: schema)
        for subscription in subscriptions {
            let className = Text(subscription.configuration.className)
            guard let owner = schema[className] else {
                subscription.classReader.report(
                    .unknownName,
                    "the schema has no class \(quoted(className.description))",
                    remedy: Suggestion.nearest(
                        to: className.description,
                        among: schema.classes.map(\.name.description)
                    ).map { "did you mean \(quoted($0))?" } ?? "declare it under schema"
                )
                continue
            }
            guard !owner.isEmbedded, !owner.isAsymmetric else {
                subscription.classReader.report(
                    .conflict,
                    "\(className) is \(owner.isEmbedded ? "embedded" : "asymmetric")",
                    remedy: "subscribe to a top-level class"
                )
                continue
            }
            guard let query = subscription.query, let reader = subscription.queryReader else {
                continue
            }
            do throws(QueryError) {
                _ = try rules.check(query.sampleText, of: className)
            } catch {
                report(error, of: query, at: reader)
            }
        }
    }

    /// Reports where the mistake is in the file.
    private func report(
        _ error: QueryError,
        of query: QueryTemplateReader.Result,
        at reader: NodeReader
    ) {
        let text = query.sampleText
        // Columns count characters, offsets bytes.
        var (column, offset) = (1, 0)
        while offset < text.count, column < error.column {
            offset += 1
            while offset < text.count, text[offset] & 0xc0 == 0x80 { offset += 1 }
            column += 1
        }
        reader.inside(atByte: query.source(of: offset)).report(
            .badValue,
            error.message,
            remedy: error.remedy
        )
    }
}

extension SubscriptionConfiguration {
    /// All objects of the class.
    static let everything = QueryTemplate("TRUEPREDICATE")
}
