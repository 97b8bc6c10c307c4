import Config
import Settings

/// `webhook`: posts the request to a web address, whose answer is read like a program's output.
struct WebhookHandler: RealmHandler {
    let configuration: PluginConfiguration.Webhook
    let readSecret: @Sendable (SecretReference) throws -> String
    let sender: any WebhookSender

    func handle(_ request: HandlerRequest) async throws(HandlerFailure) -> HandlerReply {
        let answer = try await sender.post(
            WebhookCall(
                url: configuration.url,
                headers: try headers(),
                body: request.json(),
                timeout: configuration.timeout
            )
        )
        return try HandlerReply(answer: answer, to: request)
    }

    /// Secrets are read for each call: they may have changed.
    private func headers() throws(HandlerFailure) -> [String: String] {
        var headers = ["Content-Type": "application/json"]
        for (name, value) in configuration.headers {
            switch value {
            case .text(let text):
                headers[name] = text
            case .secret(let reference):
                do {
                    headers[name] = try readSecret(reference)
                } catch {
                    throw .secretUnreadable("the header \(name): \(error)")
                }
            }
        }
        return headers
    }
}
