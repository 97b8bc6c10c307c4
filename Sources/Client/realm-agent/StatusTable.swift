import Control

/// The status as a table for people.
struct StatusTable: CustomStringConvertible {
    let report: StatusReport

    var description: String {
        guard !report.realms.isEmpty else {
            return "realm-agent \(report.version), process \(report.pid): no realms are configured"
        }
        let header = ["REALM", "STATE", "CAUSE", "UP", "DOWN", "LAST UPLOAD", "LAST DOWNLOAD"]
        var lines = ["realm-agent \(report.version), process \(report.pid)"]
        lines.append(TextTable(header, report.realms.map(cells)).description)
        for realm in report.realms {
            if let detail = realm.detail { lines.append("\(realm.name): \(detail)") }
            if let remedy = realm.remedy { lines.append("\(realm.name): \(remedy)") }
            if let next = realm.nextAttempt {
                lines.append("\(realm.name): next attempt at \(next)")
            }
            if let text = realm.subscriptions?.text { lines.append("\(realm.name): \(text)") }
            if let text = realm.subscriptions?.warning { lines.append("\(realm.name): \(text)") }
            if let text = realm.ingest?.text { lines.append("\(realm.name): \(text)") }
            if realm.mode == "migrated" {
                lines.append("\(realm.name): the server has changed the partition to flexible sync")
            }
        }
        return lines.joined(separator: "\n")
    }

    private func cells(of realm: RealmStatus) -> [String] {
        [
            realm.name,
            realm.state.rawValue,
            realm.cause ?? "-",
            size(realm.pendingUploadBytes),
            size(realm.pendingDownloadBytes),
            realm.lastUploaded ?? "-",
            realm.lastDownloaded ?? "-",
        ]
    }

    private func size(_ bytes: UInt64) -> String {
        switch bytes {
        case 0: "-"
        case ..<10_240: "\(bytes) B"
        case ..<10_485_760: "\(bytes >> 10) KiB"
        default: "\(bytes >> 20) MiB"
        }
    }
}

extension IngestSummary {
    /// A sentence if objects wait.
    fileprivate var text: String? {
        guard pending > 0 else { return nil }
        let age = lagSeconds.map { ", the oldest for \(Int($0)) s" } ?? ""
        return "\(pending) ingested objects wait for the server\(age)"
    }
}

extension SubscriptionSummary {
    /// A sentence if links lead to classes without subscription.
    fileprivate var warning: String? {
        guard let unsubscribedTargets else { return nil }
        return "links to \(unsubscribedTargets.joined(separator: ", ")) read as null: "
            + "no subscription brings their objects"
    }

    /// A sentence if the newest set is not complete.
    fileprivate var text: String? {
        if let error { return "the server rejected subscription set \(latestVersion): \(error)" }
        guard let waitingFor else { return nil }
        let share = estimate.map { ", \(Int($0 * 100)) % have come" } ?? ""
        return "subscription set \(latestVersion) waits for \(waitingFor)\(share)"
    }
}
