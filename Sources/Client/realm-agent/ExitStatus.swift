import Agent
import RealmSync

/// The outcome of a command, for scripts.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// Usage or configuration; also a file that is not a realm, or another user's, and state that a
    /// later version wrote: permanent errors, which systemd does not retry.
    case configuration = 2
    /// Needs the network, the server, or a running agent.
    case unavailable = 3
    case loginRequired = 4
    case resetRequired = 5
    case timedOut = 124
}

/// Ends a command with a status, and a message on standard error unless it was already printed.
struct CommandFailure: Error {
    let status: ExitStatus
    let message: String?
}

extension CommandFailure {
    /// A failure to prepare the agent.
    init(preparing error: any Error) {
        let isForItsOwner = error is UnusableSetting || error is MetadataDatabase.UnknownLayout
        self.init(status: isForItsOwner ? .configuration : .failed, message: "\(error)")
    }
}
