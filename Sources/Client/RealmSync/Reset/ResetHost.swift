import ClientReset
import SyncClient

/// The operations of a realm that client resets need.
protocol ResetHost: Sendable {
    /// The id of the open realm's user.
    var userID: String? { get async }

    /// Stores the file's progress in the realm's record.
    func remember(_ client: RealmClient) async

    /// Runs the work with the open realm, which closes after it. The work is cancelled with the caller,
    /// or when the realm closes.
    ///
    /// - Returns: nil if the realm is not open.
    func whileOpen<Result: Sendable>(
        _ work: @escaping @Sendable (RealmClient) async -> Result
    ) async -> Result?

    /// Closes the file, runs the work, and opens the realm again.
    func whileClosed<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result
    ) async -> Result

    /// Carries out the delegate's decision after a reset, which cannot be another reset.
    func followAfterReset(_ decision: RealmDecision) async
}
