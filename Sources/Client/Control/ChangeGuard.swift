import HTTPTypes
import Hummingbird

/// Admits state-changing requests only from users with permission.
struct ChangeGuard: RouterMiddleware {
    typealias Context = ControlContext

    let access: ControlAccess

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard ![.get, .head].contains(request.method) else {
            return try await next(request, context)
        }
        guard let peer = try await PeerCredentials.of(context.channel), access.mayChange(peer)
        else { throw ControlError.changeForbidden }
        return try await next(request, context)
    }
}
