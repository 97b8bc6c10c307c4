package import ServerStore

/// The values at the moment of a scrape, beside the totals of events.
package struct ServerGauges: Sendable {
    /// Labels of open sessions.
    package struct SessionKind: Hashable, Sendable {
        package let app: AppID
        /// The version of the sync protocol.
        package let version: Int
        /// `partition` or `flexible`
        package let mode: String

        package init(app: AppID, version: Int, mode: String) {
            self.app = app
            self.version = version
            self.mode = mode
        }
    }

    /// One app in the store, in all processes.
    package struct StoredApp: Hashable, Sendable {
        package var realms = 0
        package var historyBytes: UInt64 = 0

        package init() {}
    }

    /// The file system of an embedded store.
    package struct Disk: Hashable, Sendable {
        package let databaseBytes: UInt64
        package let logBytes: UInt64
        package let freeBytes: UInt64
        package let sizeInBytes: UInt64

        package init(
            databaseBytes: UInt64,
            logBytes: UInt64,
            freeBytes: UInt64,
            sizeInBytes: UInt64
        ) {
            self.databaseBytes = databaseBytes
            self.logBytes = logBytes
            self.freeBytes = freeBytes
            self.sizeInBytes = sizeInBytes
        }
    }

    package var version = ""
    package var connections: [AppID: Int] = [:]
    package var sessions: [SessionKind: Int] = [:]
    /// Versions that the slowest connected client has not been sent yet.
    package var lagInVersions: [AppID: UInt64] = [:]
    /// For how long the server has had a version that a connected client has not been sent yet.
    package var lagInMilliseconds: [AppID: Int64] = [:]
    package var waitingUploadBytes = 0
    package var storeCallsUnderWay = 0
    package var storedApps: [AppID: StoredApp] = [:]
    /// Nil for a store that is not a local file.
    package var disk: Disk?
    /// Reasons why the process cannot serve; empty if it can.
    package var obstacles: [String] = []
    /// Seconds since 1970.
    package var certificateExpiry: Int64?
    /// The clock of this machine, in seconds since 1970.
    package var time = 0.0
    package var process: ProcessUsage?

    package init() {}
}
