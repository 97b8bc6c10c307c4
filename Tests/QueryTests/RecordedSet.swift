import Changesets
import Documents
import Query
import TestSupport
import Testing

/// One recorded subscription set.
struct RecordedSet {
    let name: String
    /// The canonical texts of the set, by class.
    let queries: [Text: [[UInt8]]]
    let body: [UInt8]
    /// The results of each class of the body as one query.
    let joined: [RecordedQuery]

    init(_ line: JSONNode) throws {
        name = line["name"]?.string ?? "?"
        body = try #require(line["body"]?.bytesText).bytes
        var queries: [Text: [[UInt8]]] = [:]
        for subscription in try #require(line["subscriptions"]?.elements) {
            let className = try #require(subscription["class"]?.bytesText)
            let text = try #require(
                subscription["canonical"]?.bytesText ?? subscription["query"]?.bytesText
            )
            queries[className, default: []].append(text.bytes)
        }
        self.queries = queries
        let setName = name
        joined = try (line["joined"]?.members ?? [:]).sorted { $0.key < $1.key }.map {
            try RecordedQuery($0.value, name: "\(setName)|\($0.key)", className: $0.key)
        }
    }

    var writtenBody: [UInt8] { SubscriptionSetBody(joining: queries).encoded }
}
