import Changesets
import Crypto
import FoundationEssentials
import Schemas
import ServerConfig
import ServerStore

/// A digest of an app's configuration, equal in all processes that have the same one (server on
/// PostgreSQL, 6.5).
///
/// It is keyed, so that readers of the database learn nothing about the configuration.
enum AppFingerprint {
    static func text(
        _ app: ServedAppConfiguration,
        schema: RealmSchema?,
        keys: [SigningKey]
    ) -> String {
        var writer = ChangesetWriter()
        schema?.writeAdditions(to: RealmSchema(), into: &writer)
        // Each line has settings that change what is stored or who may; places of files do not.
        var flexible = app.flexible
        flexible?.sink = nil
        let lines: [String] = [
            "\(app.id)", "\(String(describing: app.partitionType))", "\(app.isDevelopmentMode)",
            "\(app.allowsClientRecovery)", "\(app.offlineLimitInMilliseconds ?? 0)",
            "\(app.access.read?.text ?? "")", "\(app.access.write?.text ?? "")",
            "\(app.accessProgram != nil)",
            StableText.of(app.quotas), StableText.of(app.tokens),
            "\(app.providers.map(\.rawValue).sorted())",
            StableText.of(flexible as Any), "\(app.flexible?.sink != nil)",
            Hexadecimal.text(of: writer.bytes),
        ]
        var digest = HMAC<SHA256>(key: SymmetricKey(data: Data(keys.last?.secret ?? [])))
        digest.update(data: Data(lines.joined(separator: "\n").utf8))
        return Hexadecimal.text(of: digest.finalize())
    }
}
