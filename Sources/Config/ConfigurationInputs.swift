/// The files, variables and host values that a configuration refers to; passed in, so that reading
/// it stays pure.
package struct ConfigurationInputs {
    package var hostName: String?
    package var machineID: String?
    package var environment: [String: String]
    /// Reads a file that the configuration names.
    package var readFile: (String) -> Result<[UInt8], FileFailure>

    package init(
        hostName: String? = nil,
        machineID: String? = nil,
        environment: [String: String] = [:],
        readFile: @escaping (String) -> Result<[UInt8], FileFailure>
    ) {
        self.hostName = hostName
        self.machineID = machineID
        self.environment = environment
        self.readFile = readFile
    }
}

/// The reason why a file could not be read, as a clause: "permission denied".
package struct FileFailure: Error, Hashable, Sendable {
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }
}
