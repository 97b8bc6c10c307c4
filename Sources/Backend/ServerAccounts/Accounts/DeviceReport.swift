/// A log-in's description of its device (app services, 4.2). An invalid one never refuses the
/// log-in.
package struct DeviceReport: Sendable {
    /// The device id of an earlier log-in, from clients that keep it.
    let id: String?
    /// The strings of the report as a JSON object.
    let json: String

    /// A log-in without a report.
    package static let none = DeviceReport(id: nil, json: "{}")

    /// Larger reports are not kept.
    private static let maximumSizeInBytes = 4096
    /// Ids have 24 bytes; this server made no longer ones.
    private static let maximumIDSizeInBytes = 64

    /// Leaves out what is too large to be kept.
    package init(id: String?, json: String) {
        self.id = id.flatMap { $0.utf8.count <= Self.maximumIDSizeInBytes ? $0 : nil }
        self.json = json.utf8.count <= Self.maximumSizeInBytes ? json : "{}"
    }
}
