import Changesets
import Query
package import Schemas

extension SubscriptionContent {
    /// The subscription with its query as the reference client writes it, so that equal queries have equal
    /// texts (flexible sync, 12.9).
    ///
    /// A class that the schema lacks is only checked for its grammar, and its text stays as it is.
    package func canonical(in schema: RealmSchema) throws(SubscriptionError) -> SubscriptionContent
    {
        do throws(QueryError) {
            guard schema[className] != nil else {
                try SubscriptionRules.checkSyntax(of: query.bytes)
                return self
            }
            let checked = try SubscriptionRules(schema: schema).check(query.bytes, of: className)
            var content = self
            content.query = Text(bytes: CanonicalText.write(checked))
            return content
        } catch {
            throw SubscriptionError(.invalidQuery, description, detail: "\(error)")
        }
    }
}

extension SubscriptionOperation {
    /// The operation with canonical queries (flexible sync, 12.9).
    ///
    /// - Parameter subscriptions: those that selectors refer to.
    package func canonical(
        in schema: RealmSchema,
        _ subscriptions: [Subscription]
    ) throws(SubscriptionError) -> SubscriptionOperation {
        switch self {
        case .add(let content): return .add(try content.canonical(in: schema))
        case .put(let content): return .put(try content.canonical(in: schema))
        case .update(let selector, let query):
            guard let found = subscriptions.first(where: selector.matches) else { return self }
            var content = found.content
            content.query = query
            return .update(selector, query: try content.canonical(in: schema).query)
        case .remove: return self
        case .replaceAll(let contents):
            var checked: [SubscriptionContent] = []
            for content in contents { checked.append(try content.canonical(in: schema)) }
            return .replaceAll(checked)
        }
    }
}
