package import Settings

/// The JSON Schema of configuration files, for editors and for checks before a file is installed.
///
/// It is made from the code that reads them. What depends on names, files and other keys' values is
/// left to `realm-agent check`.
package enum ConfigurationSchema {
    /// All keys and their values, as the readers describe them.
    package static var form: SettingForm {
        .described { root in
            let reader = ConfigurationReader(
                ConfigurationInputs(readFile: { _ in
                    .failure(FileFailure(reason: "no file is read"))
                })
            )
            _ = reader.read(root)
        }
    }

    /// The schema as JSON text.
    package static func text() -> String {
        JSONSchemaWriter(title: "Configuration of realm-agent").text(of: form)
    }
}
