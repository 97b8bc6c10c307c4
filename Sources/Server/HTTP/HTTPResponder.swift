import HTTPTypes
import HummingbirdCore
import NIOCore

/// Turns HTTP requests into calls of the client API, and their answers into responses.
struct HTTPResponder: Sendable {
    let services: ClientAPI
    let proxies: TrustedProxies
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

    private func answer(to request: Request, from channel: any Channel) async -> ServiceAnswer {
        let target = request.head.path ?? "/"
        let path = target.prefix { $0 != "?" }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: ServiceRequest.maximumBodySizeInBytes)
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
