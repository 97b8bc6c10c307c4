import ArgumentParser
import Control

/// What there is to do for an e-mail/password account before anybody can log in with it.
extension UsersCommand {
    struct Register: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "register",
            abstract: "Creates the configured e-mail/password account."
        )

        @OptionGroup var user: UserArgument

        func run() async throws {
            try await user.perform(.register)
        }
    }

    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "confirm",
            abstract: "Confirms an account with what its owner was sent.",
            discussion: MailedToken.discussion
        )

        @OptionGroup var user: UserArgument

        func run() async throws {
            let mailed = try MailedToken.readStandardInput()
            try await user.perform(
                .confirm,
                UserRequest(token: mailed.token, tokenId: mailed.tokenID)
            )
        }
    }

    struct ResendConfirmation: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resend-confirmation",
            abstract: "Has the server send anew what confirms the configured account."
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Have the app's own function called instead.")
        var function = false

        func run() async throws {
            try await user.perform(.resendConfirmation, UserRequest(callsFunction: function))
        }
    }

    struct ResetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset-password",
            abstract: "Gives an account the password that the configuration refers to.",
            discussion: """
                By itself it asks the server to send the account's owner a token; with --confirm it \
                sets the password with that token. \(MailedToken.discussion)
                """
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Read the token from standard input, and set the password with it.")
        var confirm = false

        @Flag(help: "Have the app's own function decide instead.")
        var function = false

        func validate() throws {
            guard !(confirm && function) else {
                throw ValidationError("--confirm and --function exclude each other")
            }
        }

        func run() async throws {
            let mailed = confirm ? try MailedToken.readStandardInput() : nil
            try await user.perform(
                .resetPassword,
                UserRequest(
                    token: mailed?.token,
                    tokenId: mailed?.tokenID,
                    callsFunction: function
                )
            )
        }
    }
}

/// What the owner of an account was sent, as standard input has it: on a command line others could
/// read it.
struct MailedToken {
    let token: String
    let tokenID: String

    static let discussion =
        "Standard input holds the link that was sent, or the token and its id, with a space between."

    /// Nil unless the text is a link with both as parameters, or two words.
    init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        if words.count == 2 {
            (self.token, self.tokenID) = (String(words[0]), String(words[1]))
            return
        }
        guard words.count == 1, let query = words[0].split(separator: "?").last else { return nil }
        let pairs = query.split { "&#".contains($0) }.map { $0.split(separator: "=", maxSplits: 1) }
        func value(_ name: String) -> String? {
            pairs.first { $0.count == 2 && $0[0] == name }.map { String($0[1]) }
        }
        guard let token = value("token"), let tokenID = value("tokenId") else { return nil }
        (self.token, self.tokenID) = (token, tokenID)
    }

    static func readStandardInput() throws -> MailedToken {
        let text = readLine() ?? ""
        guard let mailed = MailedToken(text) else {
            throw CommandFailure(status: .configuration, message: "no token: \(discussion)")
        }
        return mailed
    }
}
