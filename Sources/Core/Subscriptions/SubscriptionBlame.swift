import Changesets
import Query

extension SubscriptionSet {
    /// The subscriptions that a server's rejection of the set is about.
    ///
    /// A server knows the joined query of each class only. The text of ours names class and column, which
    /// lead to the subscriptions with that query; otherwise all of the class are returned, or none if the text
    /// names no class.
    package func subscriptions(blamedBy text: String) -> [Subscription] {
        guard let className = quotedClass(in: text) else { return [] }
        let candidates = subscriptions.filter { $0.className == className }
        guard let column = Self.column(in: text), let joined = body.queries[className],
            let part = JoinedQuery.parts(of: joined).first(where: { part in
                let start = Self.columnCount(of: joined[..<part.startIndex]) + 1
                return (start...start + Self.columnCount(of: part)).contains(column)
            })
        else { return candidates }
        let culprits = candidates.filter { $0.query.bytes.elementsEqual(part) }
        return culprits.isEmpty ? candidates : culprits
    }

    private func quotedClass(in text: String) -> Text? {
        classNames.sorted().first { text.contains("table \"\($0)\"") }
    }

    /// The number behind `column `, as in `column 12: …`.
    private static func column(in text: String) -> Int? {
        var rest = text[...]
        while let start = rest.firstRange(of: "column ") {
            rest = rest[start.upperBound...]
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            if rest.dropFirst(digits.count).first == ":", let column = Int(digits) {
                return column
            }
        }
        return nil
    }

    /// Unicode scalars, as the server counts columns.
    private static func columnCount(of text: ArraySlice<UInt8>) -> Int {
        text.reduce(0) { $1 & 0xc0 == 0x80 ? $0 : $0 + 1 }
    }
}
