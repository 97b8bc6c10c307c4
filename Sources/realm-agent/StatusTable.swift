import Control

/// The status as one screen for people.
struct StatusTable: CustomStringConvertible {
    let report: StatusReport

    var description: String {
        guard !report.realms.isEmpty else {
            return "realm-agent \(report.version), process \(report.pid): no realms are configured"
        }
        let header = ["REALM", "STATE", "CAUSE", "UP", "DOWN", "LAST UPLOAD", "LAST DOWNLOAD"]
        let rows = [header] + report.realms.map(cells)
        let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = ["realm-agent \(report.version), process \(report.pid)"]
        lines += rows.map { row in
            zip(row, widths)
                .map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                .joined(separator: "  ")
                .trimmedAtEnd
        }
        for realm in report.realms {
            if let detail = realm.detail { lines.append("\(realm.name): \(detail)") }
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

extension String {
    fileprivate var trimmedAtEnd: String {
        var text = self[...]
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }
}
