package import Logging
package import Platform
package import Scheduling
package import Settings

/// The outside services that built-in handlers need; tests supply their own.
package struct HandlerEnvironment: Sendable {
    package var logger: Logger
    package var now: @Sendable () -> WallTime
    package var readSecret: @Sendable (SecretReference) throws -> String
    package var files: any RealmFiles
    package var units: any UnitStarter
    package var webhooks: any WebhookSender

    package init(
        logger: Logger,
        now: @escaping @Sendable () -> WallTime,
        readSecret: @escaping @Sendable (SecretReference) throws -> String,
        files: any RealmFiles,
        units: any UnitStarter,
        webhooks: any WebhookSender = WebhookClient()
    ) {
        self.logger = logger
        self.now = now
        self.readSecret = readSecret
        self.files = files
        self.units = units
        self.webhooks = webhooks
    }
}

/// Copies and exports of local realms.
package protocol RealmFiles: Sendable {
    /// Writes a consistent copy of the realm at `path` to the new file `destination`.
    func copy(realmAt path: String, to destination: String) async throws(RealmFilesFailure)

    /// Exports unacknowledged changes as JSON lines to the new file `destination`.
    ///
    /// - Returns: how many lines there are; without any there is no file either.
    func exportUnsynced(
        realmAt path: String,
        to destination: String
    ) async throws(RealmFilesFailure) -> Int
}

/// The reason why there is no copy, as a sentence for people.
package struct RealmFilesFailure: Error, Hashable, Sendable {
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }
}

/// Sends a request to a web address.
package protocol WebhookSender: Sendable {
    func post(_ call: WebhookCall) async throws(HandlerFailure) -> [UInt8]
}

/// The request of a webhook, and the limit on its response.
package struct WebhookCall: Hashable, Sendable {
    package let url: String
    package let headers: [String: String]
    package let body: [UInt8]
    package let timeout: Duration

    var isEncrypted: Bool { url.prefix(6).lowercased() == "https:" }
}
