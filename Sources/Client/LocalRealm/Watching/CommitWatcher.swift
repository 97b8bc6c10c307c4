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

        package init(pollInterval: Duration = .seconds(1), usesNotifications: Bool = true) {
            self.pollInterval = pollInterval
            self.usesNotifications = usesNotifications
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
