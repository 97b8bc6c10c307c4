/// Notices that other programs have written to a realm, within milliseconds and at no cost while they
/// do not (local realm, 6).
///
/// The kernel reports writes to the log file as they happen; a slow poll covers file systems that
/// report nothing.
package struct CommitWatcher: Sendable {
    private let path: String
    private let options: Options
    private let ownWrites: OwnWrites

    package struct Options: Sendable {
        /// How often to look without having been told of anything.
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
    /// - Parameter ownWrites: of the realm file that this process has open; meanwhile it looks for nothing.
    package init(
        path: String,
        _ options: Options = Options(),
        beside ownWrites: OwnWrites = OwnWrites()
    ) {
        self.path = path
        self.options = options
        self.ownWrites = ownWrites
    }

    /// An element whenever the capture log holds writes that it did not hold before; the first one at
    /// once if it holds any now.
    ///
    /// Elements do not pile up: one that nobody has taken stands for all. The watch ends with the
    /// sequence or with the task that reads it.
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
