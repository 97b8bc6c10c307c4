import ClientReset

/// Where a realm stands with client resets.
struct ResetState {
    /// A reset is under way; the session is away meanwhile.
    var isUnderway = false
    /// What it does just now.
    var step: ResetStep?
    /// Why the last reset was left to the owner.
    var failure: ResetFailure?
    /// A cause that the server does not know of, so that the session must not go on with it.
    var standing: ResetCause?
    /// What becomes of the file before it is opened the next time.
    var fileAction: FileAction?
    /// The file is to be kept as a copy and begun anew once it is closed.
    var startsOver = false
    /// A handler's decision led to a reset that is not proven yet.
    var hasFollowedHandler = false
}
