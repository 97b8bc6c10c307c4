extension ServedApp {
    /// What a new configuration means to whoever is connected.
    enum Change: Hashable {
        /// Nothing: the next log-in meets it, or the next upload.
        case later
        /// Sessions have to bind again.
        case sync

        /// Nil where nothing has changed.
        init?(from old: ServedApp, to new: ServedApp) {
            let isSyncTheSame =
                old.configuration.access == new.configuration.access && old.schema == new.schema
                && old.configuration.partitionType == new.configuration.partitionType
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
