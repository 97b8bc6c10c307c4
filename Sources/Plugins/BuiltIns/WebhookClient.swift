import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
package import Outbound

/// Posts over the network, one connection for each call: events are rare.
package struct WebhookClient: WebhookSender {
    private static let maximumAnswerSizeInBytes = 64 << 10

    private let authorities: SystemAuthorities

    package init(authorities: SystemAuthorities = .ofSystem) {
        self.authorities = authorities
    }

    package func post(_ call: WebhookCall) async throws(HandlerFailure) -> [UInt8] {
        guard !call.isEncrypted || authorities.exist else {
            throw .unreachable(
                url: call.url,
                reason: "this system has no certificate authorities; "
                    + "install the package ca-certificates"
            )
        }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: HTTPClient.Configuration(
                tlsConfiguration: tls,
                redirectConfiguration: .disallow
            )
        )
        let result: Result<[UInt8], HandlerFailure>
        do throws(HandlerFailure) {
            result = .success(try await post(call, client))
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        return try result.get()
    }

    private func post(
        _ call: WebhookCall,
        _ client: HTTPClient
    ) async throws(HandlerFailure) -> [UInt8] {
        var request = HTTPClientRequest(url: call.url)
        request.method = .POST
        for (name, value) in call.headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(bytes: call.body))
        do {
            let reply = try await client.execute(request, timeout: TimeAmount(call.timeout))
            guard (200..<300).contains(reply.status.code) else {
                throw HandlerFailure.refused(url: call.url, status: Int(reply.status.code))
            }
            let body = try await reply.body.collect(upTo: Self.maximumAnswerSizeInBytes)
            return Array(buffer: body)
        } catch let failure as HandlerFailure {
            throw failure
        } catch is NIOTooManyBytesError {
            throw .tooMuchOutput(limitInBytes: Self.maximumAnswerSizeInBytes)
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            throw .timedOut(call.timeout)
        } catch {
            throw .unreachable(url: call.url, reason: "\(error)")
        }
    }
}
