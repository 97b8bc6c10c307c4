import YAML

/// Reads the keys of one mapping, and reports the unread ones at the end.
package final class MappingReader {
    private let mapping: YAMLMapping
    private let parent: NodeReader
    private var known: [String] = []
    private var later: [String] = []
    private var missing: [String] = []
    private var recorded: [(key: String, recorder: FormRecorder, isRequired: Bool)] = []
    private var oneOfKeys: [String] = []
    private var dependences: [MappingForm.Dependence] = []

    init(_ mapping: YAMLMapping, of parent: NodeReader) {
        self.mapping = mapping
        self.parent = parent
    }

    /// Reads no mapping, but records which keys are requested.
    init(describing parent: NodeReader) {
        self.mapping = YAMLMapping()
        self.parent = parent
    }

    private var isDescribing: Bool { parent.recorder != nil }

    /// The recorded form.
    var form: MappingForm {
        MappingForm(
            keys: recorded.map { key, recorder, isRequired in
                MappingForm.Key(name: key, form: recorder.form, isRequired: isRequired)
            },
            oneOfKeys: oneOfKeys,
            dependences: dependences
        )
    }

    /// The mapping as a whole, to report contradictions between its keys.
    package var whole: NodeReader { parent }

    /// Whether the key is present, read or not, valid or not.
    package func contains(_ key: String) -> Bool {
        mapping[key] != nil
    }

    /// The value of a required key.
    package func required<Value>(_ key: String, _ read: (NodeReader) -> Value?) -> Value? {
        guard let value = value(of: key, isRequired: true) else {
            missing.append(key)
            return nil
        }
        return read(value)
    }

    /// The value of an optional key.
    package func optional<Value>(_ key: String, _ read: (NodeReader) -> Value?) -> Value? {
        value(of: key).flatMap(read)
    }

    /// The value of an optional key; the default also replaces an invalid value, which is reported.
    package func optional<Value>(
        _ key: String,
        default standard: Value,
        _ read: (NodeReader) -> Value?
    ) -> Value {
        value(of: key).flatMap(read) ?? standard
    }

    /// The value of a key that is only valid with certain choices of another key.
    ///
    /// `chosen` is the choice that was read; if it was invalid, nothing more is reported.
    package func dependent<Choice: RawRepresentable<String>, Value>(
        _ key: String,
        on other: String,
        being choices: [Choice],
        chosen: Choice?,
        isRequired: Bool = false,
        _ read: (NodeReader) -> Value?
    ) -> Value? {
        let words = choices.map(\.rawValue)
        dependences.append(
            MappingForm.Dependence(key: key, other: other, choices: words, isRequired: isRequired)
        )
        let isChosen = chosen.map { words.contains($0.rawValue) } ?? isDescribing
        guard let value = value(of: key) else {
            if isChosen && isRequired { missing.append(key) }
            return nil
        }
        if let chosen, !isChosen, !isDescribing {
            value.report(
                .conflict,
                "does not go with \(other) \"\(chosen.rawValue)\"",
                remedy: "remove it; it is for \(Suggestion.list(words))"
            )
            return nil
        }
        return read(value)
    }

    /// The result of `read` for the one of several keys that exclude each other; nil, and reported,
    /// unless exactly one is present.
    package func exactlyOne<Value>(
        of keys: [String],
        remedy: String,
        _ read: (_ key: String, _ value: NodeReader) -> Value?
    ) -> Value? {
        let present = one(of: keys)
        if present.isEmpty {
            // If another key is present instead, the message about that one is enough.
            guard mapping.entries.isEmpty, !isDescribing else { return nil }
            whole.report(.missingKey, "is empty", remedy: remedy)
            return nil
        }
        return answer(present, remedy: remedy, read)
    }

    /// The same in a mapping that has other keys too; if none is present, the first is reported as
    /// missing.
    package func exactlyOneBesideOthers<Value>(
        of keys: [String],
        remedy: String,
        _ read: (_ key: String, _ value: NodeReader) -> Value?
    ) -> Value? {
        let present = one(of: keys)
        if present.isEmpty { missing += keys.prefix(1) }
        return answer(present, remedy: remedy, read)
    }

    private func one(of keys: [String]) -> [(key: String, value: NodeReader)] {
        oneOfKeys = keys
        return keys.compactMap { key in value(of: key).map { (key, $0) } }
    }

    private func answer<Value>(
        _ present: [(key: String, value: NodeReader)],
        remedy: String,
        _ read: (_ key: String, _ value: NodeReader) -> Value?
    ) -> Value? {
        if isDescribing {
            for (key, value) in present { _ = read(key, value) }
            return nil
        }
        guard present.count < 2 else {
            let names = present.map(\.key).joined(separator: " and ")
            whole.report(.conflict, "\(names) exclude each other", remedy: remedy)
            return nil
        }
        return present.first.flatMap { read($0.key, $0.value) }
    }

    /// A mapping all of whose keys are optional, and which is optional itself: then `read` gets an
    /// empty one.
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

    /// Reports a problem of a key that is present, at its value.
    package func report(
        _ key: String,
        _ code: Diagnostic.Code,
        _ problem: String,
        remedy: String
    ) {
        reader(of: key)?.report(code, problem, remedy: remedy)
    }

    private func value(of key: String, isRequired: Bool = false) -> NodeReader? {
        known.append(key)
        guard isDescribing else { return reader(of: key) }
        let recorder = FormRecorder()
        recorded.append((key, recorder, isRequired))
        return NodeReader(describing: recorder, path: parent.path.appending(key))
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

    /// Reports unknown keys, and required ones that are missing.
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
        // A misspelt key is not reported as missing as well.
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
