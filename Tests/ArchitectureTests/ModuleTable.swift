/// The table of modules in `docs/ARCHITECTURE.md`: the arrows as people read them.
struct ModuleTable {
    let imports: [String: Set<String>]

    /// Reads the rows whose first cell is a module in backquotes and whose third is its imports.
    init(_ markdown: String) {
        var imports: [String: Set<String>] = [:]
        for line in markdown.split(separator: "\n") {
            let cells = line.split(separator: "|").map { cell in
                cell.filter { $0 != "`" }.split(separator: " ").joined(separator: " ")
            }
            guard line.hasPrefix("| `"), cells.count == 3 else { continue }
            imports[cells[0]] =
                cells[2] == "–" ? [] : Set(cells[2].split(separator: ", ").map(String.init))
        }
        self.imports = imports
    }
}
