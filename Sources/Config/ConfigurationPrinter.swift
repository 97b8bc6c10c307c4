package import Settings
import YAML

/// A merged configuration as one YAML text for people.
struct ConfigurationPrinter {
    /// Whether each value is followed by its position in the files.
    let showsOrigins: Bool
    /// Keys below which values may be secrets: headers and environments.
    private static let redactedSections: Set<String> = ["headers", "environment"]

    func text(of root: YAMLNode) -> String {
        var lines: [String] = []
        write(root, key: nil, indentation: "", isRedacted: false, to: &lines)
        return lines.map { $0 + "\n" }.joined()
    }

    private func write(
        _ node: YAMLNode,
        key: String?,
        indentation: String,
        isRedacted: Bool,
        to lines: inout [String]
    ) {
        let inner = key == nil ? indentation : indentation + "  "
        switch node.content {
        case .scalar(let scalar):
            let origin = showsOrigins ? "  # \(node.location)" : ""
            let value = isRedacted ? "<redacted>" : shown(scalar, isNull: node.isNull)
            lines.append("\(indentation)\(key ?? "")\(value.isEmpty ? "" : " \(value)")\(origin)")
        case .sequence(let elements):
            if let key { lines.append("\(indentation)\(key)\(elements.isEmpty ? " []" : "")") }
            for element in elements {
                write(element, key: "-", indentation: inner, isRedacted: isRedacted, to: &lines)
            }
        case .mapping(let mapping):
            if let key {
                lines.append("\(indentation)\(key)\(mapping.entries.isEmpty ? " {}" : "")")
            }
            for entry in mapping.entries {
                // The location of a secret is not secret, and helps to find mistakes.
                let isPlace = ["credential", "file", "env"].contains(entry.key)
                write(
                    entry.value,
                    key: "\(quotedIfNeeded(entry.key)):",
                    indentation: inner,
                    isRedacted: isRedacted && !isPlace
                        || Self.redactedSections.contains(entry.key),
                    to: &lines
                )
            }
        }
    }

    private func shown(_ scalar: YAMLScalar, isNull: Bool) -> String {
        if isNull { return scalar.text.isEmpty ? "" : scalar.text }
        let isOneLine = scalar.style == .plain && !scalar.text.contains("\n")
        return isOneLine ? scalar.text : doubleQuoted(scalar.text)
    }

    private func quotedIfNeeded(_ key: String) -> String {
        let isPlain =
            key.utf8.first?.isASCIILetter == true
            && key.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: "-_.")
            }
        return isPlain ? key : doubleQuoted(key)
    }

    /// YAML's double quotes are those of JSON.
    private func doubleQuoted(_ text: String) -> String {
        OrderedJSON.string(text).text()
    }
}

extension ConfigurationParser {
    /// The merged texts as one; empty if one of them is not YAML.
    ///
    /// Values that may be secrets are replaced: those of headers and of environments. A valid
    /// configuration contains no other secrets.
    package static func text(
        main: ConfigurationSource,
        dropIns: [ConfigurationSource],
        withOrigins: Bool
    ) -> String {
        let diagnostics = DiagnosticCollector()
        let documents = ([main] + dropIns.sorted { $0.file < $1.file }).compactMap {
            diagnostics.parse($0.bytes, file: $0.file)
        }
        guard let first = documents.first else { return "" }
        let root = documents.dropFirst().reduce(first) { $0.merged(with: $1) }
        return ConfigurationPrinter(showsOrigins: withOrigins).text(of: root)
    }
}
