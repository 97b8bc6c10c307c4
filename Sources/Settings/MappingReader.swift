import YAML

/// Reads the keys of one mapping, and knows in the end which of them nobody asked for.
package final class MappingReader {
    private let mapping: YAMLMapping
    private let parent: NodeReader
    private var known: [String] = []
    private var later: [String] = []
    private var missing: [String] = []

    init(_ mapping: YAMLMapping, of parent: NodeReader) {
        self.mapping = mapping
        self.parent = parent
    }

    /// The mapping as a whole, to report what is wrong between its keys.
    package var whole: NodeReader { parent }

    /// Whether the key stands there, read or not, good or bad.
    package func contains(_ key: String) -> Bool {
        mapping[key] != nil
    }

    /// Lets keys stand whose meaning depends on others; they are not read by this.
    package func allow(_ keys: String...) {
        known += keys
    }

    /// The value of a key that must be there.
    package func required<Value>(_ key: String, _ read: (NodeReader) -> Value?) -> Value? {
        guard let value = value(of: key) else {
            missing.append(key)
            return nil
        }
        return read(value)
    }

    /// The value of a key that may be left out.
    package func optional<Value>(_ key: String, _ read: (NodeReader) -> Value?) -> Value? {
        value(of: key).flatMap(read)
    }

    /// The value of a key that may be left out; the default also stands in for a bad value, which is
    /// reported.
    package func optional<Value>(
        _ key: String,
        default standard: Value,
        _ read: (NodeReader) -> Value?
    ) -> Value {
        value(of: key).flatMap(read) ?? standard
    }

    /// The one of several keys that exclude each other; nil, and reported, unless exactly one is there.
    package func exactlyOne(of keys: [String], remedy: String) -> (key: String, value: NodeReader)?
    {
        let present = keys.compactMap { key in value(of: key).map { (key, $0) } }
        guard let first = present.first, present.count == 1 else {
            // Where another key stands instead, the message about that one is enough.
            guard !present.isEmpty || mapping.entries.isEmpty else { return nil }
            let names = present.map(\.0).joined(separator: " and ")
            whole.report(
                present.isEmpty ? .missingKey : .conflict,
                present.isEmpty ? "is empty" : "\(names) exclude each other",
                remedy: remedy
            )
            return nil
        }
        return first
    }

    /// A mapping all of whose keys may be left out, and so may it: then `read` finds it empty.
    package func section<Value>(_ key: String, _ read: (MappingReader) -> Value) -> Value {
        let present = value(of: key)
        if let value = present?.mapping({ read($0) }) { return value }
        let empty = NodeReader(
            YAMLNode(
                location: present?.node.location ?? parent.node.location,
                content: .mapping(YAMLMapping())
            ),
            path: parent.path.appending(key),
            diagnostics: parent.diagnostics
        )
        return read(MappingReader(YAMLMapping(), of: empty))
    }

    /// Keys of the documented configuration that this version refuses rather than ignores.
    package func notYetSupported(_ keys: String...) {
        later += keys
        for key in keys {
            reader(of: key)?.report(
                .unsupported,
                "is not supported yet by this version",
                remedy: "remove it"
            )
        }
    }

    private func value(of key: String) -> NodeReader? {
        known.append(key)
        return reader(of: key)
    }

    private func reader(of key: String) -> NodeReader? {
        mapping[key].map { entry in
            NodeReader(
                entry.value,
                path: parent.path.appending(key),
                diagnostics: parent.diagnostics
            )
        }
    }

    /// Reports the keys that nobody asked for, and those asked for in vain.
    func finish() {
        var misspelt: Set<String> = []
        for entry in mapping.entries where !known.contains(entry.key) && !later.contains(entry.key)
        {
            let nearest = Suggestion.nearest(to: entry.key, among: known)
            if let nearest { misspelt.insert(nearest) }
            parent.diagnostics.report(
                Diagnostic(
                    at: entry.keyLocation,
                    .unknownKey,
                    parent.path.appending(entry.key),
                    "unknown key",
                    remedy: known.isEmpty
                        ? "remove it" : Suggestion.remedy(for: entry.key, among: known)
                )
            )
        }
        // A key that stands there misspelt is not missing too.
        for key in missing where !misspelt.contains(key) {
            parent.diagnostics.report(
                Diagnostic(
                    at: parent.node.location,
                    .missingKey,
                    parent.path.appending(key),
                    "is missing",
                    remedy: "add it"
                )
            )
        }
    }
}
