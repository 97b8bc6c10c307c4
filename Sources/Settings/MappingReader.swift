import YAML

/// Reads the keys of one mapping, and knows in the end which of them nobody asked for.
package final class MappingReader {
    private let mapping: YAMLMapping
    private let parent: NodeReader
    private var known: [String] = []
    private var later: [String] = []

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

    /// The value of a key that must be there.
    package func required<Value>(_ key: String, _ read: (NodeReader) -> Value?) -> Value? {
        guard let value = value(of: key) else {
            parent.diagnostics.report(
                Diagnostic(
                    at: parent.node.location,
                    .missingKey,
                    parent.path.appending(key),
                    "is missing",
                    remedy: "add it"
                )
            )
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

    func reportUnknownKeys() {
        for entry in mapping.entries where !known.contains(entry.key) && !later.contains(entry.key)
        {
            parent.diagnostics.report(
                Diagnostic(
                    at: entry.keyLocation,
                    .unknownKey,
                    parent.path.appending(entry.key),
                    "unknown key",
                    remedy: remedy(for: entry.key)
                )
            )
        }
    }

    private func remedy(for key: String) -> String {
        if known.isEmpty { return "remove it" }
        return Suggestion.remedy(for: key, among: known)
    }
}
