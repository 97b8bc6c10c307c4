import Settings

/// Reads which plugins handle the events of a realm.
struct HandlerReader {
    let plugins: Declarations<PluginConfiguration>

    func read(_ reader: NodeReader) -> [PluginConfiguration]? {
        reader.elements { plugins.resolve($0, section: "plugins") }
    }

    func readClientReset(_ keys: MappingReader) -> ClientResetConfiguration {
        let mode = keys.optional("mode", default: ClientResetConfiguration.Mode.recover) {
            $0.choice()
        }
        return ClientResetConfiguration(
            mode: mode,
            before: keys.optional("before", default: [], read),
            after: keys.optional("after", default: [], read),
            manual: keys.optional("manual", default: [], read),
            recoveryDirectory: keys.optional("recovery_directory") { $0.absolutePath() },
            requiresBefore: keys.optional("require_before", default: false) { $0.bool() },
            exportsDiscarded: keys.optional("export_discarded", default: true) { $0.bool() }
        )
    }
}
