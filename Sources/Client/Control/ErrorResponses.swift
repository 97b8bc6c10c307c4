import HTTPTypes
import Hummingbird
import NIOCore

/// Turns errors into the body that interfaces, 6 prescribes.
struct ErrorResponses: RouterMiddleware {
    typealias Context = ControlContext

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as ControlError {
            return try answer(error)
        } catch let error as HTTPError where error.status == .notFound {
            return try answer(
                ControlError(
                    code: "request.unknown",
                    message: "there is nothing at \(request.uri.path)"
                )
            )
        } catch let error as HTTPError {
            return try answer(.malformed(error.body ?? error.status.reasonPhrase))
        }
    }

    private func answer(_ error: ControlError) throws -> Response {
        Response(
            status: .init(code: error.status),
            headers: [.contentType: "application/json"],
            body: .init(
                byteBuffer: ByteBuffer(bytes: try JSONBody.encode(ControlError.Body(error: error)))
            )
        )
    }
}
