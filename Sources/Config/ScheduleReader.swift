import Scheduling
import Settings

/// Reads when a realm may sync.
struct ScheduleReader {
    let inputs: ConfigurationInputs

    private enum ModeName: String, CaseIterable {
        case continuous, refresh, manual
    }

    func read(_ keys: MappingReader, of app: AppConfiguration?) -> SchedulePolicy {
        let word = keys.optional("mode", default: .continuous) { $0.choice(of: ModeName.self) }
        let cron = keys.dependent(
            "refresh",
            on: "mode",
            being: [ModeName.refresh],
            chosen: word,
            isRequired: true,
            readCron
        )
        let jitter = keys.optional("jitter", default: .zero) {
            $0.duration(in: .zero ... .seconds(86_400))
        }
        let windows = keys.optional("windows", default: []) { $0.elements(readWindow) }
        let zone = keys.optional("timezone", readZone)
        let pausesOn = keys.optional("pause_on", default: []) { reader in
            reader.elements { $0.choice(of: SchedulePolicy.PauseCondition.self) }
        }
        let protects = keys.optional("protect_offline_limit", default: true) { $0.bool() }
        let mode: SchedulePolicy.Mode =
            switch word {
            case .continuous: .continuous
            case .manual: .manual
            // A file without valid instants is refused, so this value is never used.
            case .refresh: cron.map { .refresh($0) } ?? .manual
            }
        return SchedulePolicy(
            mode: mode,
            jitter: jitter,
            windows: windows,
            zone: zone ?? systemZone,
            pausesOn: Set(pausesOn),
            protectsOfflineLimit: protects,
            offlineLimit: app?.offlineLimit ?? .seconds(30 * 86_400),
            needsNetwork: app.map { !$0.isOnThisMachine } ?? true
        )
    }

    private func readCron(_ reader: NodeReader) -> CronExpression? {
        guard let text = reader.string() else { return nil }
        do {
            return try CronExpression(text)
        } catch {
            reader.report(.badValue, "\(quoted(text)): \(error.problem)", remedy: error.remedy)
            return nil
        }
    }

    private func readWindow(_ reader: NodeReader) -> WeeklyWindow? {
        guard let text = reader.string() else { return nil }
        do {
            return try WeeklyWindow(text)
        } catch {
            reader.report(.badValue, "\(quoted(text)): \(error.problem)", remedy: error.remedy)
            return nil
        }
    }

    // MARK: Time zones

    private static let zoneDirectory = "/usr/share/zoneinfo"

    private func readZone(_ reader: NodeReader) -> TimeZoneRules? {
        let expected = "a time zone such as Europe/Berlin or UTC"
        guard let name = reader.string(matching: Self.isZoneName, expected: expected) else {
            return nil
        }
        if name == "UTC" { return .utc }
        guard case .success(let bytes) = inputs.readFile("\(Self.zoneDirectory)/\(name)"),
            let zone = TimeZoneFile.parse(bytes, name: name)
        else {
            reader.report(
                .unknownName,
                "the host knows no time zone \(quoted(name))",
                remedy: "give \(expected), or install the package tzdata"
            )
            return nil
        }
        return zone
    }

    private static func isZoneName(_ name: String) -> Bool {
        name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
            part.utf8.first?.isASCIILetter == true
                && part.utf8.allSatisfy {
                    $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: "_+-")
                }
        }
    }

    /// That of the host; UTC where the host has none.
    private var systemZone: TimeZoneRules {
        guard case .success(let bytes) = inputs.readFile("/etc/localtime") else {
            return .utc
        }
        return TimeZoneFile.parse(bytes, name: "local") ?? .utc
    }
}
