import Crypto
import JWTKit
import ServerConfig
import ServerStore
import Surroundings
import Versions

/// Issues and verifies the tokens of every app of this server (app services, 10).
actor TokenAuthority {
    /// The reason for which a token is invalid. A client only learns that it is.
    enum Refusal: Error, Hashable {
        case malformed
        case wrongAlgorithm
        case unknownApp
        case badSignature
        case wrongKind
        case expired
        /// The token names an unknown key, and this process has just created its keys: an earlier
        /// store may be missing.
        case keyMayBeLost
    }

    private struct App {
        let keys: JWTKeyCollection
        /// Signs; the others only verify.
        let currentKeyID: JWKIdentifier
        let keyIDs: Set<String>
        /// Whether this process created the keys at its start: there may have been others before.
        let areNew: Bool
    }

    private static let algorithm = "HS256"
    private var apps: [AppID: App] = [:]
    private let clock: WallClock

    init(clock: WallClock) {
        self.clock = clock
    }

    /// The last key signs, all of them verify.
    func add(_ keys: [SigningKey], of app: AppID, areNew: Bool) async {
        guard let current = keys.last else { return }
        let collection = JWTKeyCollection()
        for key in keys {
            await collection.add(
                hmac: HMACKey(from: key.secret),
                digestAlgorithm: .sha256,
                kid: JWKIdentifier(string: key.id)
            )
        }
        apps[app] = App(
            keys: collection,
            currentKeyID: JWKIdentifier(string: current.id),
            keyIDs: Set(keys.map(\.id)),
            areNew: areNew
        )
    }

    func remove(_ app: AppID) {
        apps[app] = nil
    }

    func token(for claims: TokenClaims, of app: AppID) async throws -> String {
        guard let app = apps[app] else { throw Refusal.unknownApp }
        return try await app.keys.sign(claims, kid: app.currentKeyID)
    }

    /// Checks in the order of app services, 10.3, up to and including the expiry.
    func verify(_ token: String, is kind: TokenClaims.Kind) async throws(Refusal) -> TokenClaims {
        guard
            let unverified = try? DefaultJWTParser().parse(
                [UInt8](token.utf8),
                as: TokenClaims.self
            )
        else { throw .malformed }
        guard unverified.header.alg == Self.algorithm else { throw .wrongAlgorithm }
        guard let id = AppID(unverified.payload.appID), let app = apps[id] else {
            throw .unknownApp
        }
        if app.areNew, let key = unverified.header.kid, !app.keyIDs.contains(key) {
            throw .keyMayBeLost
        }
        guard let claims = try? await app.keys.verify(token, as: TokenClaims.self) else {
            throw .badSignature
        }
        guard claims.kind == kind else { throw .wrongKind }
        guard claims.expiresAt.adding(clamping: TokenLifetimes.leeway) >= clock.secondsSince1970
        else {
            throw .expired
        }
        return claims
    }
}
