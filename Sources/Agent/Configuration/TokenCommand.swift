import AppServices
import Programs

/// A program that prints a token of another service; runs each time a log-in needs one (features,
/// U5).
struct TokenCommand: Sendable {
    let command: [String]
    var timeout = Duration.seconds(30)

    func token() async throws(UserSession.Failure) -> String {
        let output: [UInt8]
        do throws(ProgramFailure) {
            output = try await Program(command: command, environment: [:], timeout: timeout)
                .output(input: [])
        } catch {
            throw Self.failure(error)
        }
        guard let text = String(validating: output, as: UTF8.self) else { throw Self.noToken }
        let token = text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
        guard token.count == 1, !token[0].contains(where: \.isWhitespace) else {
            throw Self.noToken
        }
        return String(token[0])
    }

    /// Maps a failed program to a log-in failure: transient, or one that the operator must correct.
    private static func failure(_ failure: ProgramFailure) -> UserSession.Failure {
        let message = "no token from token.command: \(failure)"
        return switch failure {
        case .cannotStart, .tooMuchOutput:
            .logInRefused(code: "auth.token_command", message: message)
        case .exitStatus, .signal, .timedOut, .cancelled: .unavailable(reason: message)
        }
    }

    /// Nothing of the output is shown: it may hold the token.
    private static let noToken = UserSession.Failure.logInRefused(
        code: "auth.token_command",
        message: "token.command must print the token, on one line, and nothing else"
    )
}
