import PostgreSQL

/// The lines of a password file, in PostgreSQL's form: `host:port:database:user:password`.
///
/// `*` matches everything, and a backslash makes a colon or a backslash part of a field. The first
/// line that matches counts. The host of a socket is its directory, or `localhost`.
struct PasswordFile {
    private let entries: [[String]]

    init(_ text: String) {
        entries = text.split(whereSeparator: \.isNewline).compactMap { line in
            guard line.first != "#" else { return nil }
            let fields = Self.fields(line)
            return fields.count == 5 ? fields : nil
        }
    }

    /// Nil if no line matches.
    func password(for host: Target.Host, database: String, user: String) -> String? {
        let (names, port): ([String], UInt16) =
            switch host {
            case .socket(let directory, let port): ([directory, "localhost"], port)
            case .network(let name, let port): ([name], port)
            }
        return entries.first { entry in
            let values = [names, ["\(port)"], [database], [user]]
            return zip(entry, values).allSatisfy { field, values in
                field == "*" || values.contains(field)
            }
        }?.last
    }

    private static func fields(_ line: Substring) -> [String] {
        var fields = [""]
        var isEscaped = false
        for character in line {
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            // The password is the rest of the line.
            case ":" where !isEscaped && fields.count < 5: fields.append("")
            default: fields[fields.count - 1].append(character)
            }
            isEscaped = false
        }
        return fields
    }
}
