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
        let forms = "{ credential: NAME }, { file: PATH } or { env: NAME }"
        if case .scalar = node.content {
            // What stands here may be the secret itself: no message shows it.
            report(
                node.isNull ? .wrongType : .plainSecret,
                node.isNull ? "is empty" : "a secret cannot stand in the file",
                remedy: node.isNull
                    ? "give \(forms)"
                    : "put it into a file that only the program can read, and give \(forms)"
            )
            return nil
        }
        return mapping(expected: forms) { keys in
            let place = keys.exactlyOne(
                of: ["credential", "file", "env"],
                remedy: "give \(forms)"
            )
            switch place?.key {
            case "credential":
                return place?.value.string(
                    matching: isFileName,
                    expected: "the name of a systemd credential"
                ).map(SecretReference.credential)
            case "file":
                return place?.value.absolutePath().map(SecretReference.file)
            case "env":
                return place?.value.string(
                    matching: isVariableName,
                    expected: "the name of an environment variable"
                ).map(SecretReference.environment)
            default:
                return nil
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
