import YAML

/// Where a secret is kept; the secret itself never stands in a configuration.
package enum SecretReference: Hashable, Sendable {
    /// A systemd credential: a file in `$CREDENTIALS_DIRECTORY`.
    case credential(name: String)
    case file(path: String)
    case environment(variable: String)
}

extension SecretReference: CustomStringConvertible {
    /// As it is written in a configuration.
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
        if case .scalar = node.content {
            // What stands here may be the secret itself: no message shows it.
            report(
                .plainSecret,
                node.isNull ? "is empty" : "a secret cannot stand in the file",
                remedy: """
                    put it into a file that only the program can read and refer to it with \
                    { file: PATH }, { credential: NAME } or { env: NAME }
                    """
            )
            return nil
        }
        return mapping { keys in
            let references = [
                keys.optional("credential") { reader in
                    reader.string(
                        matching: isFileName,
                        expected: "the name of a systemd credential"
                    ).map(SecretReference.credential)
                },
                keys.optional("file") { $0.absolutePath().map(SecretReference.file) },
                keys.optional("env") { reader in
                    reader.string(
                        matching: isVariableName,
                        expected: "the name of an environment variable"
                    ).map(SecretReference.environment)
                },
            ]
            let present = ["credential", "file", "env"].filter(keys.contains)
            guard present.count == 1 else {
                report(
                    present.isEmpty ? .missingKey : .conflict,
                    present.isEmpty
                        ? "names no place of the secret"
                        : "names several places: \(present.joined(separator: ", "))",
                    remedy: "give one of { credential: NAME }, { file: PATH } or { env: NAME }"
                )
                return nil
            }
            return references.compactMap { $0 }.first
        }
    }
}

private func isFileName(_ text: String) -> Bool {
    text != "." && text != ".." && text.utf8.count <= 255
        && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
}

private func isVariableName(_ text: String) -> Bool {
    text.utf8.first.map { $0 < UInt8(ascii: "0") || $0 > UInt8(ascii: "9") } ?? false
        && text.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
}
