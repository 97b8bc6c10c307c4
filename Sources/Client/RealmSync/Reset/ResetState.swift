import ClientReset

/// Where a realm is with client resets.
struct ResetState {
    /// A reset is running; the session is off its connection.
    var isRunning = false
    /// What it does just now.
    var step: ResetStep?
    /// Why the last reset was left to the owner.
    var failure: ResetFailure?
    /// A cause that the server does not know of, so that the session must not continue.
    var standing: ResetCause?
    /// What happens to the file before it is opened the next time.
    var fileAction: FileAction?
    /// The file is to be kept as a copy once it is closed.
    var startsOver = false
    /// A handler's decision led to a reset that is not proven yet.
    var hasFollowedHandler = false

    var keepsSessionAway: Bool { isRunning || standing != nil }
}
