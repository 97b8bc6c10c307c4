/// One statement of a pipeline.
package struct Step: Sendable {
    package let text: Text
    package let values: [Value]

    package enum Text: Sendable {
        /// A constant of the program: each connection prepares it at its first use.
        case fixed(StaticString)
        /// Made for one use, and not kept by the connection. Without U+0000.
        case made(String)

        package var sql: String {
            switch self {
            case .fixed(let sql): sql.description
            case .made(let sql): sql
            }
        }
    }

    package init(_ sql: StaticString, _ values: [Value] = []) {
        text = .fixed(sql)
        self.values = values
    }

    /// A statement that is used once; its constants are values, never part of the text.
    package init(once sql: String, _ values: [Value] = []) {
        text = .made(sql)
        self.values = values
    }
}
