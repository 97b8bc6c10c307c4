import SyncProtocol
import Testing

@Suite("The numbers of the SDKs")
struct SDKErrorCodeTests {
    @Test(
        "The order of wire protocol, 9",
        arguments: [
            (SyncStatus.syncPermissionDenied, ServerAction.deleteRealm, true, 9),
            (.authError, .logOutUser, true, 5), (.authError, .refreshUser, false, 5),
            (.syncCompensatingWrite, .warning, false, 11),
            (.syncConnectFailed, .transient, false, 12),
            (.tlsHandshakeFailed, .transient, false, 13),
            (.syncConnectTimeout, .transient, false, nil),
            (.invalidSubscriptionQuery, .applicationBug, true, 10),
            (.syncClientResetRequired, .clientReset, true, 7),
            (.badChangeset, .clientResetNoRecovery, true, 7),
            (.limitExceeded, .clientReset, false, 7),
            (.connectionClosed, .transient, false, nil), (.runtimeError, .transient, false, nil),
            (.wrongSyncType, .applicationBug, true, 4),
            (.syncUserMismatch, .deleteRealm, true, 4),
            (.invalidSchemaChange, .applicationBug, true, 4),
            (.syncWriteNotAllowed, .warning, false, 4),
            (.syncProtocolInvariantFailed, .protocolViolation, true, 4),
            (.runtimeError, .warning, false, 14), (.unknownError, .warning, true, 14),
            (.unknownError, .applicationBug, true, 6), (.runtimeError, .protocolViolation, true, 6),
            (.unknownError, .applicationBug, false, nil),
        ] as [(SyncStatus, ServerAction, Bool, Int?)]
    )
    func order(status: SyncStatus, action: ServerAction, isFatal: Bool, number: Int?) {
        #expect(SDKErrorCode(status, action: action, isFatal: isFatal)?.rawValue == number)
    }
}
