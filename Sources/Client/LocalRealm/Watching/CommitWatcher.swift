/// Notices writes of other programs to a realm, within milliseconds and at no cost while there are
/// none (local realm, 6).
///
/// The kernel reports writes to the log file as they happen; a slow poll covers file systems that
/// report nothing.
package struct CommitWatcher: Sendable {
    private let path: String
    private let options: Options
    private let ownWrites: OwnWrites

    package struct Options: Sendable {
        /// The interval of looks without a notification.
        package var pollInterval: Duration
        /// Whether to ask the kernel for notifications.
        package var usesNotifications: Bool
        /// For so long after a write each look asks the database: the next commit may have the same time by
        /// the file system's clock, which advances every few milliseconds, or only every two seconds.
        package var doubt: Duration

        package init(
            pollInterval: Duration = .seconds(1),
            usesNotifications: Bool = true,
            doubt: Duration = .seconds(5)
        ) {
            self.pollInterval = pollInterval
            self.usesNotifications = usesNotifications
            self.doubt = doubt
        }
    }

    /// The realm must exist by the time `captures()` is called.
    ///
    /// - Parameter ownWrites: of the realm file that this process has open; the watcher pauses
    ///   meanwhile.
    package init(
        path: String,
        _ options: Options = Options(),
        beside ownWrites: OwnWrites = OwnWrites()
    ) {
        self.path = path
        self.options = options
        self.ownWrites = ownWrites
    }

    /// An element whenever the capture log has new writes; the first one at once if it has any now.
    ///
    /// Pending elements merge into one. The watch ends with the sequence or with the task that
    /// reads it.
    package func captures() throws(LocalRealmError) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let watch = try RealmFile.mappingErrors(path) {
            try CaptureWatch(path: path, options, beside: ownWrites) { continuation.yield() }
        }
        continuation.onTermination = { _ in watch.stop() }
        watch.start()
        return stream
    }
}
