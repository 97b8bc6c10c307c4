import Settings

/// The entries of a section with free names: the valid ones, and the names of all.
struct Declarations<Value> {
    private(set) var values: [(name: String, value: Value)] = []
    private var names: [String] = []

    /// Reads the section's entries, and keeps them in the order of their names.
    init(_ reader: NodeReader?, read: (NodeReader.Entry) -> Value?) {
        let entries = reader?.entries { entry in
            entry.checkName()
            return (entry.name, read(entry))
        }
        for (name, value) in (entries ?? []).sorted(by: { $0.0 < $1.0 }) {
            names.append(name)
            if let value { values.append((name, value)) }
        }
    }

    /// The declaration that a value refers to by name.
    func resolve(_ reader: NodeReader, section: String) -> Value? {
        guard let name = reader.string() else { return nil }
        if !names.contains(name) {
            reader.report(
                .unknownName,
                "there is no \(quoted(name)) under \"\(section)\"",
                remedy: Suggestion.nearest(to: name, among: names)
                    .map { "did you mean \"\($0)\"?" } ?? "declare it there"
            )
        }
        // A name with an invalid declaration has been reported there.
        return values.first { $0.name == name }?.value
    }
}

extension NodeReader.Entry {
    /// Names become names of files, and words of the command line.
    fileprivate func checkName() {
        let isGood =
            (1...64).contains(name.utf8.count)
            && name.utf8.first.map { $0.isASCIILetter || $0.isASCIIDigit } ?? false
            && name.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: "-_.")
            }
        guard !isGood else { return }
        value.diagnostics.report(
            Diagnostic(
                at: nameLocation,
                .badValue,
                value.path,
                "\(quoted(name)) cannot be a name",
                remedy: """
                    use up to 64 letters, digits, "-", "_" and ".", a letter or digit first
                    """
            )
        )
    }
}
