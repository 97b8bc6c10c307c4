import ServerStore

@testable import Control
@testable import ServerAccounts
@testable import ServerHTTP

enum RequestInput {
    /// A line with method, path and query, then the body.
    static func runClient(_ bytes: [UInt8], _ claims: inout Claims) {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        let body = Array(bytes.dropFirst(line.count + 1))
        let words = String(decoding: line, as: UTF8.self)
            .split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            .map(String.init)
        let request = ClientAPIRequest(
            method: words[0],
            path: words.count > 1 ? words[1] : "",
            query: words.count > 2 ? words[2] : "",
            authorization: words.last,
            body: body
        )
        _ = request.bearerToken
        _ = request.item("token")
        do throws(ServiceRefusal) {
            _ = try ClientRoute(method: request.method, path: request.path, query: request.query)
        } catch {
            claims.check((400..<500).contains(error.status), "a bad path is the server's fault")
        }
        do throws(ServiceRefusal) {
            let fields = try RequestFields(parsing: body)
            for provider in providers { _ = try? fields.credential(for: provider, in: body) }
            _ = try? fields.resetCall(in: body)
            claims.check(fields.device.json.utf8.count <= 4096, "a device's report is too large")
        } catch {
            claims.check((400..<500).contains(error.status), "a bad body is the server's fault")
        }
    }

    private static let providers: [ProviderType] = [
        .anonymous, .emailPassword, .apiKey, .customToken, .customFunction,
    ]

    /// The first byte selects the request.
    static func runControl(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let first = bytes.first else { return }
        let body = Array(bytes.dropFirst())
        switch first % 11 {
        case 0: again(SyncRequest.self, body, &claims)
        case 1: again(WaitRequest.self, body, &claims)
        case 2: again(SuspendRequest.self, body, &claims)
        case 3: again(CopyRequest.self, body, &claims)
        case 4: again(DeleteRequest.self, body, &claims)
        case 5: again(ResetRequest.self, body, &claims)
        case 6: again(SubscriptionsRequest.self, body, &claims)
        case 7: again(UserRequest.self, body, &claims)
        case 8: again(VerifyRequest.self, body, &claims)
        case 9: again(UserKeyName.self, body, &claims)
        default: again(LogLevelChange.self, body, &claims)
        }
    }

    /// What a request holds can be written, and reads as the same.
    private static func again<Request: Codable>(
        _ type: Request.Type,
        _ body: [UInt8],
        _ claims: inout Claims
    ) {
        guard let request = try? JSONBody.decode(type, from: body) else { return }
        let written = try? JSONBody.encode(request)
        let again = written.flatMap { try? JSONBody.decode(type, from: $0) }
        let rewritten = again.flatMap { try? JSONBody.encode($0) }
        claims.check(written != nil && rewritten == written, "a request has two forms")
    }
}
