/// A log-in's description of its device (app services, 4.2). An invalid one never refuses the
/// log-in.
struct DeviceReport: Sendable {
    /// The device id of an earlier log-in, from clients that keep it.
    let id: String?
    /// The strings of the report as a JSON object.
    let json: String

    static let none = DeviceReport(id: nil, json: "{}")

    /// Larger reports are not kept.
    static let maximumSizeInBytes = 4096
    /// Ids have 24 bytes; this server made no longer ones.
    static let maximumIDSizeInBytes = 64
}
