/// Finds names for tables and columns where realm names clash with SQLite's rules (local realm, 1).
enum FreeName {
    /// The class's own name, unless SQLite or the agent reserves it or another class has it in
    /// another case.
    static func table(for className: String, taken: [String]) -> String {
        let folded = SQLText.folded(className)
        let isReserved = folded.hasPrefix("sqlite_") || folded.hasPrefix(Layout.prefix)
        return first(isReserved ? "~\(className)" : className, taken: taken)
    }

    static func column(for property: String, taken: [String]) -> String {
        first(property, taken: taken)
    }

    private static func first(_ name: String, taken: [String]) -> String {
        let taken = Set(taken.map(SQLText.folded))
        guard taken.contains(SQLText.folded(name)) else { return name }
        var number = 2
        while taken.contains(SQLText.folded("\(name)~\(number)")) { number += 1 }
        return "\(name)~\(number)"
    }
}
