/// Resources of this process, under the names that Prometheus gives them for every program.
package struct ProcessUsage: Hashable, Sendable {
    package let cpuSeconds: Double
    package let residentBytes: UInt64
    package let openDescriptors: Int
    package let descriptorLimit: UInt64
    package let threads: Int
    /// Seconds since 1970.
    package let startTime: Double

    package init(
        cpuSeconds: Double,
        residentBytes: UInt64,
        openDescriptors: Int,
        descriptorLimit: UInt64,
        threads: Int,
        startTime: Double
    ) {
        self.cpuSeconds = cpuSeconds
        self.residentBytes = residentBytes
        self.openDescriptors = openDescriptors
        self.descriptorLimit = descriptorLimit
        self.threads = threads
        self.startTime = startTime
    }
}
