/// The messages that have a `MESSAGE_ID` in the journal (`docs/logs.md`).
///
/// An id never changes: when a message is reworded, it keeps its id.
enum MessageCatalogue {
    static let ids: [String: String] = [
        "administration":
            "6f1c0d3be1bf4a6c93d7a3c6f2a1d0e4",
        "ready":
            "47c755237bff542cb2fe6e1bc314c165",
        "stopped":
            "865470c6a5d358059e836633a5bcb57c",
        "no realm is configured; declare one under realms, and reload":
            "190a8f7ed0f75ffb954bffebdce89314",
        "log level changed":
            "3c71695984cf5395b106a00193a96388",
        "waiting for another command to end":
            "1e2ce836357e55c3accc52caba798e03",
        "log-in changed":
            "ff48d0c0fba14413baf142526efff7fc",
        "realm is not open":
            "a7a1878197a351dcab2f42f6fccfec00",
        "realm is open":
            "34e01f34a4d440d68d09db5dda56e7ca",
        "suspended":
            "9192fa164e2a51f39d5fed4c40d3ee9a",
        "resumed":
            "e50ca8580d805f98b444d3f9c41a9929",
        "connected":
            "c2271b00437c5bf4a41c349457f65d04",
        "session suspended":
            "37534f6adf5e5f129e9339d6c4638c17",
        "session accepted":
            "c3646cb5f9b84ecbb58fe63ee08a704c",
        "session stopped by server error":
            "1f058b4bc9fb5065a5677ec6b986f9a7",
        "the server reports an error":
            "c48dbc121f975f238c013dd47c901c73",
        "server":
            "fe6d7d4d5e75552cb9e321a8e9783122",
        "a download cannot be integrated":
            "387cadba298f5ab69a2e1b43aee476b4",
        "no upload is acknowledged":
            "5359e8d872314d47817e46c0ce5e33dd",
        "uploads continue":
            "cbf4d4a0836841f2b4acfb88e6a3536b",
        "work on a file makes no progress":
            "8a6ec0c96abe4df9ae5357e0a7d438e4",
        "work on the files continues":
            "232a68e918664165b1d75c2e63407650",
        "class learned from the server":
            "bc5af33af9cb5020855498553ddb4cb3",
        "a local value cannot be synchronised and was restored":
            "29e7c69589625019940ec3b08da24ae6",
        "local writes cannot be captured":
            "54828e6a2d3b510e844f5c59c1e56c03",
        "local writes are captured":
            "d4233e63a090490fab9853ef8bc5b0c5",
        "handler failed; sync continues without it":
            "d8825580cfb05d1692bfb90d3326eac3",
        "paused":
            "15437d67f76545f9a74b24fee5748923",
        "resumed by the schedule":
            "5e5a1961dc384198a34aeb59691a2687",
        "paused for most of the offline limit":
            "4e54b97262ac410e9e01291d3c964485",
        "refresh":
            "ce9d97665a424f9fa04eac40c52c7907",
        "refresh ended":
            "74bbf7cb500949d3bcd8ef56dcde4a70",
        "not connected":
            "053a9a17bb914108ad5f92a21850258e",
        "disconnected":
            "543c101a4b1f4b0580f40f3b75b48063",
        "configuration reloaded":
            "370933408bc14061a0a8a3f8aa9106df",
        "file ident assigned":
            "6a0e0c2c822b4a1ebe2856fb4502108d",
        "the suspension cannot be stored":
            "c81473181c9145b69debcdd620f3f581",
        "the machine has resumed; realms reconnect":
            "2f9b6f0ed1a94d1c8a57c0e54f8d3b76",
        "metrics cannot be served":
            "541afdc2a0a0412989934149cef80a71",
    ]
}
