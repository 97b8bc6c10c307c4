package import Settings

/// The JSON Schema of `realm-server.yaml`, for editors and for checks before a file is installed.
///
/// It is generated from the code that reads the file. It leaves rules about other files and other
/// keys to `realm-server check`.
package enum ServerConfigurationSchema {
    /// All keys and their forms, as the reader describes them.
    package static var form: SettingForm {
        .described { _ = ServerConfigurationReader.read($0) }
    }

    /// As JSON text.
    package static func text() -> String {
        JSONSchemaWriter(title: "Configuration of realm-server").text(of: form)
    }
}
