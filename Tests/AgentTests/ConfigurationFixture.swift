import Config
import Platform
import Plugins
import RealmSync
import Settings
import TestSupport
import Testing

@testable import Agent

/// A configuration as tests write it, and what the agent puts together of it.
struct ConfigurationFixture {
    let configuration: AgentConfiguration

    /// `text` is what follows the section `agent`, whose directory is the test's.
    init(_ text: String, in temporary: TemporaryDirectory) throws {
        let whole = "agent: { data_directory: \(temporary.path) }\n\(text)"
        let result = ConfigurationParser.load(
            main: ConfigurationSource(file: "test.yaml", bytes: Array(whole.utf8)),
            inputs: ConfigurationInputs(
                hostName: "box",
                machineID: "machine",
                readFile: { _ in .success([]) }
            )
        )
        #expect(result.diagnostics.map(\.description) == [])
        configuration = try #require(result.configuration)
    }

    /// Everything that is configured, and nothing of it running.
    func parts(in temporary: TemporaryDirectory) throws -> Parts {
        let log = AgentLog(configuration.daemon.log, atLeast: .off)
        let events = AgentEvents()
        var parts = Parts(
            version: "1",
            log: log,
            database: try MetadataDatabase(path: temporary.file("metadata.sqlite")),
            events: events,
            recoveredDirectory: temporary.file("recovered"),
            plugins: PluginRegistry(configuration.plugins, log: log, events: events)
        )
        for app in configuration.apps { try parts.add(app) }
        for user in configuration.users { parts.add(user) }
        for realm in configuration.realms { parts.add(realm) }
        return parts
    }
}
