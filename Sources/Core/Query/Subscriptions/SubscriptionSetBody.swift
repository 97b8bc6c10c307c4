package import Changesets
import JSON

/// The body of IDENT and QUERY: the joined query of each class (flexible sync, 5.1).
package struct SubscriptionSetBody: Hashable, Sendable {
    /// By class; a class without an entry has no subscription.
    package let queries: [Text: [UInt8]]

    package static let empty = SubscriptionSetBody(queries: [:])

    package init(queries: [Text: [UInt8]]) {
        self.queries = queries
    }

    /// Joins the canonical texts of each class.
    package init(joining texts: [Text: [[UInt8]]]) {
        self.queries = texts.filter { !$0.value.isEmpty }.mapValues { JoinedQuery.join($0) }
    }

    /// Reads the body of a message; total, linear in its length.
    ///
    /// - Throws: an error for a body that is not a JSON object of strings, or exceeds a limit. The
    ///   queries are read later, by `SubscriptionRules`.
    package init(
        decoding body: [UInt8],
        limits: SubscriptionLimits = SubscriptionLimits()
    ) throws(SubscriptionSetError) {
        guard body.count <= limits.bodySizeInBytes else {
            throw .bodyTooLong(bytes: body.count, limit: limits.bodySizeInBytes)
        }
        var queries: [Text: [UInt8]] = [:]
        var reader = SubscriptionSetReader(body)
        while let (name, query) = try reader.next() {
            let className = Text(bytes: name)
            guard queries.updateValue(query, forKey: className) == nil else {
                throw .duplicateClass(className)
            }
            guard queries.count <= limits.classes else {
                throw .tooManyClasses(limit: limits.classes)
            }
        }
        self.queries = queries
    }

    /// One object without blanks, classes in bytewise order; `{}` without any.
    package var encoded: [UInt8] {
        var body: [UInt8] = [UInt8(ascii: "{")]
        for (className, query) in queries.sorted(by: { $0.key < $1.key }) {
            if body.count > 1 { body.append(UInt8(ascii: ",")) }
            JSONString.append(className.bytes, to: &body)
            body.append(UInt8(ascii: ":"))
            JSONString.append(query, to: &body)
        }
        body.append(UInt8(ascii: "}"))
        return body
    }

    /// The classes whose query differs, was added or was removed: only these need another look
    /// (flexible sync, 5.1).
    package func classes(differingFrom other: SubscriptionSetBody) -> Set<Text> {
        let names = Set(queries.keys).union(other.queries.keys)
        return names.filter { queries[$0] != other.queries[$0] }
    }
}
