package import Digests
import FoundationEssentials

/// The reason for which a server gave no digests of a realm.
package enum ComparisonFailure: Error, Sendable, Equatable {
    /// There is no token.
    case logIn(UserSession.Failure)
    /// The server does not know the call: it is not a realm-server.
    case unsupported
    /// Another comparison is running, or the server is in trouble: try again after a while.
    case busy(reason: String)
    case refused(reason: String)
}

extension UserSession {
    /// Asks the server for digests of a realm. Reading a large one takes minutes.
    package func digests(
        _ request: DigestRequest
    ) async throws(ComparisonFailure) -> DigestResponse {
        let account: Account
        do throws(Failure) {
            account = try await validAccount()
        } catch {
            throw .logIn(error)
        }
        do throws(ServiceError) {
            do throws(ServiceError) {
                return try await client.digests(request, account.accessToken)
            } catch {
                guard error.status == 401,
                    let access = try? await refresh(replacing: account.accessToken).accessToken
                else { throw error }
                return try await client.digests(request, access)
            }
        } catch {
            throw ComparisonFailure(error)
        }
    }
}

extension ComparisonFailure {
    init(_ error: ServiceError) {
        switch error {
        case .unreachable(_, let reason): self = .busy(reason: reason)
        case .refused(let refusal) where [404, 405, 501].contains(refusal.status):
            self = .unsupported
        case .refused(let refusal) where refusal.status == 429 || refusal.status >= 500:
            self = .busy(reason: error.description)
        case .refused, .unusableResponse: self = .refused(reason: error.description)
        }
    }
}

extension AppClient {
    fileprivate func digests(
        _ request: DigestRequest,
        _ access: Token
    ) async throws(ServiceError) -> DigestResponse {
        let body = (try? JSONEncoder().encode(request)).map { Array($0) } ?? []
        let response = try await call(
            .post,
            "\(ServicePath.app(appID))/realm/compare",
            token: access,
            body: body,
            timeout: .seconds(300)
        )
        return try ResponseClassifier.decode(DigestResponse.self, from: response)
    }
}
