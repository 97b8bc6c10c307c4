/// One statement of a pipeline.
///
/// The text is a constant of the program: each connection prepares it at its first use.
package struct Step: Sendable {
    package let sql: StaticString
    package let values: [Value]

    package init(_ sql: StaticString, _ values: [Value] = []) {
        self.sql = sql
        self.values = values
    }
}
