/// The table of modules in `docs/ARCHITECTURE.md`: the arrows for people.
struct ModuleTable {
    let imports: [String: Set<String>]
    /// Every row's module and sentence, in order.
    let sentences: [(module: String, sentence: String)]

    /// Reads the rows whose first cell is a module in backquotes and whose third is its imports.
    init(_ markdown: String) {
        var imports: [String: Set<String>] = [:]
        var sentences: [(module: String, sentence: String)] = []
        for line in markdown.split(separator: "\n") {
            let cells = line.split(separator: "|").map { cell in
                cell.filter { $0 != "`" }.split(separator: " ").joined(separator: " ")
            }
            guard line.hasPrefix("| `"), cells.count == 3 else { continue }
            sentences.append((cells[0], cells[1]))
            imports[cells[0]] =
                cells[2] == "–" ? [] : Set(cells[2].split(separator: ", ").map(String.init))
        }
        self.imports = imports
        self.sentences = sentences
    }
}
