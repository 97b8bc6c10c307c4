import HTTPTypes
import HummingbirdCore
import NIOCore
import ServerMetrics
import Surroundings

/// Turns HTTP requests into calls of the client API, and their results into HTTP responses.
struct HTTPResponder: Sendable {
    let services: ClientAPI
    let proxies: TrustedProxies
    /// Bodies have separate room: most come from clients without a log-in.
    let bodies: BodyBudget
    let clock: WallClock

    func response(to request: Request, from channel: any Channel) async -> Response {
        let outcome = await apiResponse(to: request, from: channel)
        var fields = HTTPFields()
        fields[.date] = clock.httpDate
        fields[.contentType] = outcome.body == nil ? nil : outcome.contentType
        fields[.retryAfter] = outcome.retryAfterInSeconds.map(String.init)
        return Response(
            status: HTTPResponse.Status(code: outcome.status),
            headers: fields,
            body: outcome.body.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) }
                ?? ResponseBody()
        )
    }

    /// The largest body that needs no room in `bodies`.
    private static let allowanceInBytes = 16 << 10

    private func apiResponse(to request: Request, from channel: any Channel) async
        -> ClientAPIResponse
    {
        let target = request.head.path ?? "/"
        let path = target.prefix { $0 != "?" }
        // Small bodies need no room, so that log-ins are never refused for lack of it.
        var room = 0
        defer { bodies.change(by: -room) }
        var body = ByteBuffer()
        do {
            for try await part in request.body {
                body.writeImmutableBuffer(part)
                guard body.readableBytes <= ClientAPIRequest.maximumBodySizeInBytes else {
                    services.meter.note(.reached(.body))
                    return ClientAPIResponse(.bodyTooLarge)
                }
                guard room == 0, body.readableBytes > Self.allowanceInBytes else { continue }
                guard bodies.take(ClientAPIRequest.maximumBodySizeInBytes) else {
                    services.meter.note(.reached(.bodies))
                    return ClientAPIResponse(.busy)
                }
                room = ClientAPIRequest.maximumBodySizeInBytes
            }
        } catch {
            return ClientAPIResponse(.bodyTooLarge)
        }
        return await services.respond(
            to: ClientAPIRequest(
                method: request.method.rawValue,
                path: String(path),
                query: String(target.dropFirst(path.count + 1)),
                authorization: request.headers[.authorization],
                host: request.head.authority,
                address: proxies.limitKey(
                    of: channel.remoteAddress?.ipAddress,
                    forwarded: HTTPField.Name("X-Forwarded-For").map {
                        request.headers[values: $0]
                    } ?? []
                ),
                body: Array(buffer: body)
            )
        )
    }
}
