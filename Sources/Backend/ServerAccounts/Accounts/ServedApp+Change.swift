import ServerConfig

extension ServedApp {
    /// The effect of a new configuration on connected clients.
    package enum Change: Hashable {
        /// None: it applies to the next log-in or upload.
        case later
        /// Sessions must bind again.
        case sync

        /// Nil if nothing has changed.
        package init?(from old: ServedApp, to new: ServedApp) {
            let isSyncTheSame =
                old.configuration.access == new.configuration.access
                && old.configuration.accessProgram == new.configuration.accessProgram
                && old.schema == new.schema
                && old.configuration.partitionType == new.configuration.partitionType
                && old.configuration.partitionKey == new.configuration.partitionKey
                && old.configuration.flexible == new.configuration.flexible
                && old.configuration.allowsClientRecovery == new.configuration.allowsClientRecovery
            guard isSyncTheSame else {
                self = .sync
                return
            }
            guard
                old.configuration != new.configuration
                    || old.externalTokens?.keyDigest != new.externalTokens?.keyDigest
                    || old.isFromFile != new.isFromFile
            else { return nil }
            self = .later
        }
    }
}
