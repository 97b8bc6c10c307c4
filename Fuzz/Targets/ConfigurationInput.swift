import Config
import Settings
import YAML

enum ConfigurationInput {
    static func runYAML(_ bytes: [UInt8]) {
        do throws(YAMLError) {
            _ = try YAMLNode.parse(bytes, file: "input")
        } catch {
            check(error.location.line > 0, "an error has no line")
        }
    }

    static func runAgent(_ bytes: [UInt8]) {
        let result = ConfigurationParser.load(
            main: ConfigurationSource(file: "input", bytes: bytes),
            inputs: ConfigurationInputs(hostName: "host", environment: ["NAME": "value"]) { _ in
                .failure(FileFailure(reason: "no such file"))
            }
        )
        check(
            result.configuration != nil || !result.diagnostics.isEmpty,
            "a configuration is refused without a reason"
        )
    }
}
