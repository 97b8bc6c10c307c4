package import SyncProtocol

extension ServerProblem {
    /// The number that the SDKs give what the server reports (features, E2).
    package var sdkCode: Int {
        if action?.isClientReset == true { return 7 }
        switch status {
        case .syncPermissionDenied, .syncUserMismatch: return 9
        case .invalidSubscriptionQuery: return 10
        case .syncCompensatingWrite, .syncWriteNotAllowed: return 11
        case .authError: return 8
        case .syncConnectFailed, .syncConnectTimeout: return 12
        case .tlsHandshakeFailed: return 13
        case .syncProtocolInvariantFailed, .runtimeError, .unknownError: return 6
        default: return 4
        }
    }
}
