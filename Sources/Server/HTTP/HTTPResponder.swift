import HTTPTypes
import HummingbirdCore
import NIOCore

/// Turns HTTP requests into calls of the client API, and their answers into responses.
struct HTTPResponder: Sendable {
    let services: ClientAPI
    let proxies: TrustedProxies
    /// Bodies have room of their own: most of them come from clients that have not logged in.
    let bodies: UploadBudget
    let clock: WallClock

    func response(to request: Request, from channel: any Channel) async -> Response {
        let answer = await answer(to: request, from: channel)
        var fields = HTTPFields()
        fields[.date] = clock.httpDate
        fields[.contentType] = answer.body == nil ? nil : ServiceAnswer.contentType
        fields[.retryAfter] = answer.retryAfterInSeconds.map(String.init)
        return Response(
            status: HTTPResponse.Status(code: answer.status),
            headers: fields,
            body: answer.body.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) }
                ?? ResponseBody()
        )
    }

    /// Of a body that needs no room among all bodies.
    private static let allowanceInBytes = 16 << 10

    private func answer(to request: Request, from channel: any Channel) async -> ServiceAnswer {
        let target = request.head.path ?? "/"
        let path = target.prefix { $0 != "?" }
        // Small ones need no room, so that log-ins are never refused for it.
        var room = 0
        defer { bodies.change(by: -room) }
        var body = ByteBuffer()
        do {
            for try await part in request.body {
                body.writeImmutableBuffer(part)
                guard body.readableBytes <= ServiceRequest.maximumBodySizeInBytes else {
                    return ServiceAnswer(.bodyTooLarge)
                }
                guard room == 0, body.readableBytes > Self.allowanceInBytes else { continue }
                guard bodies.take(ServiceRequest.maximumBodySizeInBytes) else {
                    return ServiceAnswer(.busy)
                }
                room = ServiceRequest.maximumBodySizeInBytes
            }
        } catch {
            return ServiceAnswer(.bodyTooLarge)
        }
        return await services.answer(
            ServiceRequest(
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
