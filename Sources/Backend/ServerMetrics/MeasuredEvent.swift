package import ServerStore

/// An event that the metrics count. Durations are in seconds.
package enum MeasuredEvent: Sendable {
    /// An upload with changesets is in the history. `bytes`: of its changesets, decompressed.
    case integrated(AppID, changesets: Int, bytes: Int, mergedPairs: Int, seconds: Double)
    /// An upload did not fit, and its client was corrected.
    case corrected(AppID)
    /// Writes of one changeset were rejected and undone.
    case rejectedWrites(AppID, count: Int)
    /// A DOWNLOAD is on its way. `bytes`: of its changesets, before compression.
    case downloaded(AppID, DownloadKind, changesets: Int, bytes: Int)
    /// The history was read for one DOWNLOAD.
    case scanned(AppID, seconds: Double)
    /// A session or its connection ends with an error. `code`: wire protocol, 8.
    case failed(AppID, code: Int, resetsClient: Bool)
    /// A subscription set was rejected.
    case rejectedQuery(AppID)
    /// The client API has answered. `rejection`: the code in the response, if any.
    case answered(route: String, status: Int, rejection: String?)
    /// A log-in with a provider, or the link of one. `outcome`: `ok` or the code of the rejection.
    ///
    /// Without an app if the request names one that does not exist.
    case loggedIn(AppID?, provider: String, outcome: String)
    case issuedToken(TokenKind)
    case reached(MeasuredLimit)
    case finished(Job, seconds: Double)
    /// A call of the store, from the request to its result, waiting for its turn included.
    case called(StoreCall, seconds: Double)
    /// The store failed. `code`: of `docs/errors.md`.
    case storeFailed(code: String)
    case builtSnapshot(seconds: Double)

    package enum DownloadKind: String, Sendable, CaseIterable {
        /// Changes of the history.
        case history
        /// A part of the first state of a subscription set.
        case bootstrap
    }

    package enum TokenKind: String, Sendable, CaseIterable {
        case access
        case refresh
    }

    package enum StoreCall: String, Sendable, CaseIterable {
        case read
        case write
    }
}

/// A limit that stopped a client.
package enum MeasuredLimit: String, Sendable, CaseIterable {
    /// `limits.connections`
    case connections
    /// `limits.connections_per_address`, `limits.connections_per_user`
    case connectionsOfOne = "connections-of-one"
    /// The size of one request's body.
    case body
    /// `limits.body_bytes`: bodies of all requests.
    case bodies
    /// Attempts to log in, or to send mails.
    case attempts
    /// Uploads that wait for the store.
    case backlog
    /// A quota of the user.
    case quota
}
