import Query
import ServerStore
import Settings

/// The section `access` of an app: rules, or a program that decides.
struct AccessReading {
    let rules: AccessRules
    let program: AccessProgramConfiguration?

    init(reading keys: MappingReader, _ files: NamedFiles?) {
        rules = AccessRules(
            read: keys.optional("read") { $0.accessRule() },
            write: keys.optional("write") { $0.accessRule() }
        )
        program = AccessProgramConfiguration(reading: keys, files)
        let unfit = keys.contains("command") ? ["read", "write"] : Self.keysOfProgram
        for key in unfit where keys.contains(key) {
            keys.report(
                key,
                .conflict,
                keys.contains("command")
                    ? "does not go with command, which decides on reading and writing"
                    : "belongs to a command, and there is none",
                remedy: "remove it"
            )
        }
    }

    private static let keysOfProgram = ["timeout", "environment", "cache"]
}

extension NodeReader {
    fileprivate func accessRule() -> AccessRule? {
        guard let text = string() else { return nil }
        do throws(QueryError) {
            return try AccessRule(text)
        } catch {
            report(
                .badValue,
                "is not a rule: column \(error.column): \(error.message)",
                remedy: error.remedy
            )
            return nil
        }
    }
}
