import YAML

/// The location of a secret; a configuration never contains the secret itself.
package enum SecretReference: Hashable, Sendable {
    /// A systemd credential: a file in `$CREDENTIALS_DIRECTORY`.
    case credential(name: String)
    case file(path: String)
    case environment(variable: String)
}

extension SecretReference: CustomStringConvertible {
    /// As in a configuration.
    package var description: String {
        switch self {
        case .credential(let name): "{ credential: \(name) }"
        case .file(let path): "{ file: \(path) }"
        case .environment(let variable): "{ env: \(variable) }"
        }
    }
}

extension NodeReader {
    /// `{ credential: NAME }`, `{ file: PATH }` or `{ env: NAME }`, and nothing else.
    package func secret() -> SecretReference? {
        secret(otherForms: [], { $0 }, other: { _, _ in nil })
    }

    /// The result of `read` for a secret, or for an alternative under another key.
    package func secret<Value>(
        otherForms: [(key: String, form: String)],
        _ make: (SecretReference) -> Value,
        other: (_ key: String, _ value: NodeReader) -> Value?
    ) -> Value? {
        let forms = Suggestion.list(
            ["{ credential: NAME }", "{ file: PATH }", "{ env: NAME }"] + otherForms.map(\.form)
        )
        if case .scalar = node.content, recorder == nil {
            // This value may be the secret itself: no message shows it.
            report(
                node.isNull ? .wrongType : .plainSecret,
                node.isNull ? "is empty" : "the file must not contain a secret",
                remedy: node.isNull
                    ? "give \(forms)"
                    : "put it into a file that only the program can read, and give \(forms)"
            )
            return nil
        }
        return mapping(expected: forms) { keys in
            keys.exactlyOne(
                of: ["credential", "file", "env"] + otherForms.map(\.key),
                remedy: "give \(forms)"
            ) { key, value in
                switch key {
                case "credential":
                    value.string(
                        matching: isFileName,
                        expected: "the name of a systemd credential"
                    ).map { make(.credential(name: $0)) }
                case "file":
                    value.absolutePath().map { make(.file(path: $0)) }
                case "env":
                    value.string(
                        matching: isVariableName,
                        expected: "the name of an environment variable"
                    ).map { make(.environment(variable: $0)) }
                default:
                    other(key, value)
                }
            }
        }
    }
}

private func isFileName(_ text: String) -> Bool {
    text != "." && text != ".." && text.utf8.count <= 255
        && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
}

private func isVariableName(_ text: String) -> Bool {
    text.utf8.first?.isASCIIDigit == false
        && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: "_") }
}
