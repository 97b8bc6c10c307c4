import ClientReset
import SyncClient

/// The operations of a realm that client resets need.
protocol ResetHost: Sendable {
    /// The id of the open realm's user.
    var userID: String? { get async }

    /// Stores the file's progress in the realm's record.
    func remember(_ client: RealmClient) async

    /// Closes the file, runs the work, and opens the realm again.
    func whileClosed<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result
    ) async -> Result

    /// Carries out the delegate's decision after a reset, which cannot be another reset.
    func followAfterReset(_ decision: RealmDecision) async
}
