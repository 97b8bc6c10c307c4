import Settings

/// Writes strings so that every YAML reader reads them as these strings.
enum YAMLText {
    /// Plain if that is safe, in any context and for readers of YAML 1.1 too; else quoted.
    static func scalar(_ text: String) -> String {
        let isPlain =
            text.utf8.first.map { $0.isASCIILetter || $0.isOne(of: "_") } ?? false
            && text.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: "_<>?-.")
            }
            && !reserved.contains(text.lowercased())
        return isPlain ? text : quoted(text)
    }

    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            default:
                if isPrintable(scalar) {
                    quoted.unicodeScalars.append(scalar)
                } else {
                    let digits = String(scalar.value, radix: 16)
                    quoted += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
                }
            }
        }
        return quoted + "\""
    }

    /// Words that some reader takes for a boolean or null.
    private static let reserved: Set<String> = [
        "null", "true", "false", "yes", "no", "on", "off", "y", "n",
    ]

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        default: true
        }
    }
}
