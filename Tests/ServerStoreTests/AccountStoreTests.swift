import ServerFixtures
import Testing

@testable import ServerStore

@Suite("Store: accounts")
struct AccountStoreTests {
    private let shop = AppID.named("shop-abcde")
    private let office = AppID.named("office-fghij")

    private func user(_ id: String, _ email: String = "") -> User {
        let identity = Identity(
            id: id.utf8.count < 100 ? "identity of \(id)" : "identity",
            provider: .emailPassword,
            email: email
        )
        return User(id: UserID(id), identities: [identity], isDisabled: false)
    }

    @Test("An app is read with its keys in order", arguments: StoreKind.allCases)
    func app(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let record = AppRecord(
                id: shop,
                domainID: "65a1f0c2e4b0a1b2c3d4e5a0",
                keys: [
                    SigningKey(id: "b", secret: [1, 2, 3]), SigningKey(id: "a", secret: [4, 5]),
                ]
            )
            try await store.write { [shop] transaction throws in
                #expect(try transaction.app(shop) == nil)
                try transaction.insert(record, at: 7)
            }
            try await store.read { [shop, office] snapshot throws in
                #expect(try snapshot.app(shop) == record)
                #expect(try snapshot.app(office) == nil)
            }
        }
    }

    @Test(
        "Users are found by id and by identity, in their own app only",
        arguments: StoreKind.allCases
    )
    func users(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let ann = user("ann", "ann@example.com")
            try await store.write { [shop] in try $0.insert(ann, of: shop, at: 1) }
            try await store.read { [shop, office] snapshot throws in
                #expect(try snapshot.user(ann.id, of: shop) == ann)
                #expect(try snapshot.user(ann.id, of: office) == nil)
                let identity = "identity of ann"
                #expect(
                    try snapshot.user(identifiedBy: .emailPassword, identity, of: shop) == ann
                )
                #expect(try snapshot.user(identifiedBy: .anonymous, identity, of: shop) == nil)
            }
        }
    }

    @Test(
        "Names with U+0000, and names above the limit, are unacceptable",
        arguments: StoreKind.allCases
    )
    func names(kind: StoreKind) async throws {
        let long = String(repeating: "x", count: StorableName.limitInBytes)
        try await kind.withStore { store in
            try await store.write { [shop, ann = user(long)] in
                try $0.insert(ann, of: shop, at: 1)
            }
            for name in ["a\0b", long + "x"] {
                let error = try await #require(throws: StoreError.self) {
                    try await store.write { [shop, ann = user(name)] in
                        try $0.insert(ann, of: shop, at: 1)
                    }
                }
                #expect(error.kind == .unacceptable)
            }
        }
    }

    @Test("Password accounts keep name and hash", arguments: StoreKind.allCases)
    func passwordAccounts(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let name = try #require(UserName("ann@example.com"))
            let account = PasswordAccount(identityID: "i", hash: PasswordHash(text: "$y$…"))
            try await store.write { [shop] in
                try $0.insert(account, named: name, of: shop, at: 1)
            }
            try await store.read { [shop] snapshot throws in
                #expect(try snapshot.passwordAccount(name, of: shop) == account)
            }
            await #expect(throws: StoreError.self) {
                try await store.write { [shop] in
                    try $0.insert(account, named: name, of: shop, at: 2)
                }
            }
        }
    }

    @Test("A revoked session stays, revoked", arguments: StoreKind.allCases)
    func sessions(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let session = LoginSession(
                digest: SessionDigest(bytes: Array("secret".utf8)),
                userID: UserID("ann"),
                deviceID: "d1",
                device: "{\"sdk\":\"Swift\"}",
                expiresAt: 1_790_000_000_000
            )
            try await store.write { [shop] in try $0.insert(session, of: shop, at: 1) }
            try await store.write { [shop] transaction throws in
                #expect(try transaction.loginSession(session.digest, of: shop) == session)
                #expect(try transaction.isDevice("d1", knownOf: UserID("ann"), of: shop))
                #expect(try !transaction.isDevice("d1", knownOf: UserID("bob"), of: shop))
                try transaction.revokeLoginSession(session.digest, of: shop)
            }
            let revoked = try await store.read { [shop] in
                try $0.loginSession(session.digest, of: shop)
            }
            #expect(revoked?.isRevoked == true)
        }
    }
}
