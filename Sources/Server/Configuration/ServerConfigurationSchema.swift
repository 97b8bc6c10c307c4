package import Settings

/// The JSON Schema of `realm-server.yaml`, for editors and for checks before a file is installed.
///
/// It is made from the code that reads the file; what depends on other files and on the values of
/// other keys is left to `realm-server check`.
package enum ServerConfigurationSchema {
    /// All keys and what they hold, as the reader describes it.
    package static var form: SettingForm {
        .described { _ = ServerConfigurationReader.read($0) }
    }

    /// As JSON text.
    package static func text() -> String {
        JSONSchemaWriter(title: "Configuration of realm-server").text(of: form)
    }
}
