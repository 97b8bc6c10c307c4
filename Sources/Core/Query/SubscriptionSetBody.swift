package import Changesets
import JSON

/// The body of IDENT and QUERY: a client's subscriptions as text (flexible sync, 5.1).
package enum SubscriptionSetBody {
    /// One object with the joined query of each class, classes in bytewise order; `{}` without any.
    ///
    /// - Parameter queries: canonical texts by class.
    package static func write(_ queries: [Text: [[UInt8]]]) -> [UInt8] {
        var body: [UInt8] = [UInt8(ascii: "{")]
        for (className, texts) in queries.sorted(by: { $0.key < $1.key }) where !texts.isEmpty {
            if body.count > 1 { body.append(UInt8(ascii: ",")) }
            JSONString.append(className.bytes, to: &body)
            body.append(UInt8(ascii: ":"))
            JSONString.append(JoinedQuery.join(texts), to: &body)
        }
        body.append(UInt8(ascii: "}"))
        return body
    }
}
