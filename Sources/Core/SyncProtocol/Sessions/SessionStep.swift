package import Changesets
package import Versions

/// One piece of a server session's work in the store. `ServerSession` asks for it, its shell carries
/// out the steps of a session in order (sync history, 13 to 15).
package enum SessionStep: Hashable, Sendable {
    /// Find the partition, check the user's permission, and assign a file ident if one is needed;
    /// answer with `opened`, or with `fail`.
    case open(path: Text, needsFileIdent: Bool)
    /// Check the IDENT against the store (`IdentCheck`); answer with `identified`, or with `fail`.
    case validate(ClientMessage.Ident)
    /// Add uploads to the history; answer with `historyGrew`, or with `fail`. The session asks for
    /// one at a time, also before it has an answer: those that wait may be integrated together.
    case integrate([UploadCheck.Admitted])
    /// Read the history after the cursor; answer with `scanned`.
    case scanDownload(from: DownloadCursor)
    /// Check a subscription set, and send the history up to it and its bootstrap (flexible sync, 7);
    /// answer with `scanned` for each part of the history, `bootstrapped` for each message of the
    /// bootstrap, or with `refused` or `fail`.
    case subscribe(ClientMessage.Query)
}
