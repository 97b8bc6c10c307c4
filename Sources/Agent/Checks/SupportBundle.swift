package import Config
import Control
import Platform
import RealmSync
import Scheduling

/// The text of a support bundle, for finding a fault without access to the machine.
package struct SupportBundle: Sendable {
    private let configuration: AgentConfiguration
    private let version: String

    package init(_ configuration: AgentConfiguration, version: String) {
        self.configuration = configuration
        self.version = version
    }

    /// Names and texts, redacted.
    package func files() async -> [(name: String, text: String)] {
        let redaction = Redaction()
        return await collected().map { (name: $0.name, text: redaction.redacted($0.text)) }
    }

    private func collected() async -> [(name: String, text: String)] {
        let findings = await Doctor(configuration).examine()
        var files = [
            (name: "machine.txt", text: machine),
            (name: "doctor.txt", text: findings.map { "\($0)\n" }.joined()),
        ]
        let client = ControlClient(socketPath: configuration.daemon.controlSocket)
        do throws(ControlError) {
            files.append(("status.json", Self.json(try await client.status())))
            files.append(("log-levels.json", Self.json(try await client.logLevels())))
            files.append(("metrics.txt", try await client.metrics()))
        } catch {
            files.append(("no-agent.txt", "\(error)\n"))
        }
        if let events = await events(client) { files.append(("events.jsonl", events)) }
        for realm in await configuration.located().realms {
            guard let schema = try? SchemaReport(path: realm.path) else { continue }
            files.append(("schema-\(realm.name).sql", schema.sql))
        }
        return files
    }

    private var machine: String {
        let host = MachineDescription.current()
        return """
            realm-agent \(version)
            Linux \(host.systemVersion) \(host.architecture)
            apps: \(configuration.apps.count), users: \(configuration.users.count), \
            realms: \(configuration.realms.count)
            written at \(WallTime.now())

            """
    }

    private func events(_ client: ControlClient) async -> String? {
        var text = ""
        do {
            try await client.events(after: nil, follow: false, realm: nil) { record in
                // They name rows, and may quote them.
                if case .rejected = record.event.payload { return }
                text += try record.controlJSON() + "\n"
            }
        } catch {
            return nil
        }
        return text
    }

    private static func json(_ value: some Encodable) -> String {
        ((try? value.controlJSON()) ?? "") + "\n"
    }
}
