/// A location in a text that a person wrote: lines and columns count from 1, columns in characters.
package struct TextLocation: Hashable, Sendable {
    package let file: String
    package let line: Int
    package let column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }
}

extension TextLocation: CustomStringConvertible {
    /// The form that editors and terminals turn into a link.
    package var description: String { "\(file):\(line):\(column)" }
}
