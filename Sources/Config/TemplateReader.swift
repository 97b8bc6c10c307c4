import Settings

/// Expands placeholders in a text: `${host.name}`, `${env.NAME}` and the like (interfaces, 4).
///
/// `$${` yields a literal `${`.
struct TemplateReader {
    private let inputs: ConfigurationInputs
    /// The realm's user; nil if it is unknown because of another mistake.
    private let user: UserConfiguration?

    init(_ inputs: ConfigurationInputs, user: UserConfiguration?) {
        self.inputs = inputs
        self.user = user
    }

    private static let variables = [
        "user.id", "user.email", "host.name", "host.machine_id", "env.NAME",
    ]

    /// Nil, and reported, if something cannot be filled in.
    func resolve(_ text: String, at reader: NodeReader) -> UserTemplate? {
        var template = UserTemplate()
        template.append("")
        var isComplete = true
        var rest = text[...]
        while let dollar = rest.firstRange(of: "${") {
            let isEscaped = rest[..<dollar.lowerBound].last == "$"
            template.append(String(rest[..<dollar.lowerBound].dropLast(isEscaped ? 1 : 0)))
            rest = rest[dollar.upperBound...]
            if isEscaped {
                template.append("${")
                continue
            }
            guard let end = rest.firstIndex(of: "}") else {
                reader.report(
                    .badValue,
                    "\"${\" is not closed",
                    remedy: "add \"}\", or write \"$${\" for the characters themselves"
                )
                return nil
            }
            let name = String(rest[..<end])
            rest = rest[rest.index(after: end)...]
            if name == "user.id" {
                template.appendUserID()
            } else if let value = value(of: name, at: reader) {
                template.append(value)
            } else {
                isComplete = false
            }
        }
        template.append(String(rest))
        return isComplete ? template : nil
    }

    private func value(of name: String, at reader: NodeReader) -> String? {
        switch name {
        case "user.email":
            // Without a user, another message reports the mistake.
            guard let user else { return nil }
            return user.email
                ?? missing(
                    name,
                    "user \"\(user.name)\" has no e-mail address",
                    remedy: "use ${user.id}",
                    at: reader
                )
        case "host.name":
            return inputs.hostName
                ?? missing(name, "the host has no name", remedy: "set one", at: reader)
        case "host.machine_id":
            return inputs.machineID
                ?? missing(
                    name,
                    "the host has no /etc/machine-id",
                    remedy: "create it with systemd-machine-id-setup",
                    at: reader
                )
        case _ where name.hasPrefix("env."):
            let variable = String(name.dropFirst(4))
            return inputs.environment[variable]
                ?? missing(
                    name,
                    "the environment has no variable \(quoted(variable))",
                    remedy: "set it for the agent, or write the value here",
                    at: reader
                )
        default:
            reader.report(
                .badValue,
                "${\(name)} is unknown",
                remedy: Suggestion.nearest(to: name, among: Self.variables)
                    .map { "did you mean ${\($0)}?" }
                    ?? "use \(Suggestion.list(Self.variables.map { "${\($0)}" }))"
            )
            return nil
        }
    }

    private func missing(
        _ name: String,
        _ problem: String,
        remedy: String,
        at reader: NodeReader
    ) -> String? {
        reader.report(.unknownName, "${\(name)}: \(problem)", remedy: remedy)
        return nil
    }
}
