import ClientReset

/// The state of a realm's client resets.
struct ResetState {
    /// A reset is running; the session is detached.
    var isRunning = false
    /// The step in progress.
    var step: ResetStep?
    /// The reason why the last reset was left to the owner.
    var failure: ResetFailure?
    /// A cause that the server does not know, so that the session must not continue.
    var standing: ResetCause?
    /// The action on the file before it is next opened.
    var fileAction: FileAction?
    /// The file is to be archived once it is closed.
    var startsOver = false
    /// A handler's decision led to a reset that is not proven yet.
    var hasFollowedHandler = false

    var keepsSessionAway: Bool { isRunning || standing != nil }
}
