import Agent
import RealmSync

/// How a command ended, for scripts.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// Usage or configuration; also a file that is no realm, or another user's, and state that a later
    /// version wrote: what time does not heal, and systemd does not try again.
    case configuration = 2
    /// Needs the network, the server, or a running agent.
    case unavailable = 3
    case loginRequired = 4
    case resetRequired = 5
    case timedOut = 124
}

/// Ends a command with a status, and a message on standard error unless all has been said.
struct CommandFailure: Error {
    let status: ExitStatus
    let message: String?
}

extension CommandFailure {
    /// What kept the agent from being made ready.
    init(preparing error: any Error) {
        let isForItsOwner = error is UnusableSetting || error is MetadataDatabase.UnknownLayout
        self.init(status: isForItsOwner ? .configuration : .failed, message: "\(error)")
    }
}
