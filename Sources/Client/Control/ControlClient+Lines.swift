import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Requests that are answered with one JSON document per line.
extension ControlClient {
    /// Hands each event to the body, until there is no more or the body throws.
    ///
    /// - Throws: `ControlError`, or the body's error.
    package func events(
        after position: UInt64?,
        follow: Bool,
        realm: String?,
        _ body: (EventRecord) async throws -> Void
    ) async throws {
        var query = ["follow=\(follow)"]
        if let position { query.append("after=\(position)") }
        if let realm { query.append("realm=\(Self.escaped(realm))") }
        try await lines("v1/events?\(query.joined(separator: "&"))", as: EventRecord.self, body)
    }

    /// Compares a realm with its server, and hands each line to the body.
    package func verify(
        _ realm: String,
        _ request: VerifyRequest,
        _ body: (VerificationLine) async throws -> Void
    ) async throws {
        try await lines(
            "v1/realms/\(realm)/verify",
            as: VerificationLine.self,
            posting: (try? JSONBody.encode(request)) ?? [],
            body
        )
    }

    /// Passes each line of a response to the body as it arrives.
    func lines<Line: Decodable>(
        _ path: String,
        as type: Line.Type,
        posting request: [UInt8]? = nil,
        _ body: (Line) async throws -> Void
    ) async throws {
        let client = newClient()
        let result: Result<Void, any Error>
        do {
            result = .success(try await read(path, as: type, request, through: client, body))
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        try result.get()
    }

    private func read<Line: Decodable>(
        _ path: String,
        as type: Line.Type,
        _ request: [UInt8]?,
        through client: HTTPClient,
        _ body: (Line) async throws -> Void
    ) async throws {
        var outgoing = HTTPClientRequest(url: url(of: path))
        if let request {
            outgoing.method = .POST
            outgoing.body = .bytes(ByteBuffer(bytes: request))
        }
        let response: HTTPClientResponse
        do {
            // The response's head arrives at once; its lines may take years.
            response = try await execute(outgoing, by: .distantFuture, through: client)
        } catch {
            throw failure(error)
        }
        guard response.status == .ok else {
            let bytes = (try? await response.body.collect(upTo: 1 << 20)).map { Array(buffer: $0) }
            throw refusal(status: response.status.code, body: bytes ?? [])
        }
        var splitter = LineSplitter()
        do {
            for try await chunk in response.body {
                for line in splitter.lines(in: chunk.readableBytesView) {
                    guard let value = try? JSONBody.decode(type, from: line) else {
                        throw ReaderFailure(cause: ControlError.malformedAnswer)
                    }
                    do { try await body(value) } catch { throw ReaderFailure(cause: error) }
                }
            }
        } catch let failure as ReaderFailure {
            throw failure.cause
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw failure(error)
        }
    }

    /// A failure of the code that reads the lines, as distinct from the connection's.
    private struct ReaderFailure: Error {
        let cause: any Error
    }
}

/// Cuts chunks of text, as they come, into lines.
struct LineSplitter {
    private var rest: [UInt8] = []

    mutating func lines(in chunk: some Sequence<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in chunk {
            if byte == UInt8(ascii: "\n") {
                if !rest.isEmpty { lines.append(rest) }
                rest = []
            } else {
                rest.append(byte)
            }
        }
        return lines
    }
}
