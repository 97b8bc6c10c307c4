import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// The forms in which the control API answers and is asked.
extension Response {
    /// One JSON document.
    static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: try JSONBody.encode(value)))
        )
    }

    /// Status 503 if realms wait.
    static func readiness(_ report: ReadinessReport) throws -> Response {
        try json(report, status: report.isReady ? .ok : .serviceUnavailable)
    }

    static func text(_ text: String, type: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: type],
            body: .init(byteBuffer: ByteBuffer(string: text))
        )
    }

    /// One JSON document per line, until the sequence ends.
    ///
    /// Each line is fetched after the previous one was sent, so a slow reader delays only itself.
    /// The stream ends when the reader disconnects or the agent stops.
    static func jsonLines<Line: Encodable & Sendable>(
        _ lines: AsyncStream<Line>,
        to request: Request,
        where isWanted: @escaping @Sendable (Line) -> Bool = { _ in true }
    ) -> Response {
        // Hummingbird ends the process if the reader leaves, or all is sent, before it has seen the end of the
        // body: it sees that of this one at once.
        var request = request
        request.body = RequestBody(buffer: ByteBuffer())
        return Response(
            status: .ok,
            headers: [.contentType: "application/jsonl"],
            body: ResponseBody { [body = request.body] writer in
                try await body.consumeWithCancellationOnInboundClose { _ in
                    for await line in lines.cancelOnGracefulShutdown() where isWanted(line) {
                        let bytes = try JSONBody.encode(line) + [UInt8(ascii: "\n")]
                        try await writer.write(ByteBuffer(bytes: bytes))
                    }
                }
                try await writer.finish(nil)
            }
        )
    }
}

extension Request {
    /// The body as JSON; an empty one counts as `{}`.
    func decoded<Value: Decodable>(as type: Value.Type) async throws(ControlError) -> Value {
        guard let body = try? await body.collect(upTo: 1 << 16) else {
            throw .malformed("the body is too large, or breaks off")
        }
        let bytes = body.readableBytes > 0 ? Array(buffer: body) : Array("{}".utf8)
        guard let value = try? JSONBody.decode(type, from: bytes) else {
            throw .malformed("the body is not the JSON object that this request takes")
        }
        return value
    }

    /// The value of a query item; nil if it is missing.
    func query<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type = String.self
    ) throws(ControlError) -> Value? {
        guard let text = uri.queryParameters[Substring(name)] else { return nil }
        guard let value = Value(String(text)) else {
            throw .malformed("\(name)=\(text) in the query cannot be understood")
        }
        return value
    }
}
