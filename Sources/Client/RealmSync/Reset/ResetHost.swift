import ClientReset
import SyncClient

/// What client resets need of the realm they belong to.
protocol ResetHost: Sendable {
    /// Of the user whose realm is open.
    var userID: String? { get async }

    /// Remembers how far the file is.
    func remember(_ client: RealmClient) async

    /// Runs the work while the file is closed and stays so; the realm is opened again after it.
    func whileClosed<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result
    ) async -> Result

    /// Does what the delegate decided after a reset, which cannot be another reset.
    func followAfterReset(_ decision: RealmDecision) async
}
