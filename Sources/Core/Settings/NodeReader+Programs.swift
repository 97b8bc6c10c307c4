extension NodeReader {
    /// A program and its arguments, without a shell.
    package func command() -> [String]? {
        guard let words = elements({ $0.string(allowsEmpty: true) }) else { return nil }
        guard let program = words.first, program.hasPrefix("/") else {
            report(
                .badValue,
                words.isEmpty ? "is an empty list" : "\(quoted(words[0])) is not an absolute path",
                remedy: "give the path of a program, and its arguments after it"
            )
            return nil
        }
        return words
    }

    /// The environment of a program.
    package func environment() -> [String: String] {
        let variables = entries { entry in
            (entry.name, entry.value.string(allowsEmpty: true) ?? "")
        }
        return Dictionary(variables) { first, _ in first }
    }
}
