import Config
import Settings
import YAML

enum ConfigurationInput {
    static func runYAML(_ bytes: [UInt8], _ claims: inout Claims) {
        do throws(YAMLError) {
            _ = try YAMLNode.parse(bytes, file: "input")
        } catch {
            claims.check(error.location.line > 0, "an error has no line")
        }
    }

    static func runAgent(_ bytes: [UInt8], _ claims: inout Claims) {
        let result = ConfigurationParser.load(
            main: ConfigurationSource(file: "input", bytes: bytes),
            inputs: ConfigurationInputs(hostName: "host", environment: ["NAME": "value"]) { _ in
                .failure(FileFailure(reason: "no such file"))
            }
        )
        claims.check(
            result.configuration != nil || !result.diagnostics.isEmpty,
            "a configuration is refused without a reason"
        )
    }
}
