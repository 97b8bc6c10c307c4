/// Cells in columns, for people.
struct TextTable: CustomStringConvertible {
    private let rows: [[String]]

    /// Every row has as many cells as the header.
    init(_ header: [String], _ rows: [[String]]) {
        self.rows = [header] + rows
    }

    var description: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths)
                .map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                .joined(separator: "  ")
                .trimmedAtEnd
        }.joined(separator: "\n")
    }
}

extension String {
    fileprivate var trimmedAtEnd: String {
        var text = self[...]
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }
}
