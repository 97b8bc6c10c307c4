import ArgumentParser
import Control

/// Registration, confirmation and password reset of e-mail/password accounts.
extension UsersCommand {
    struct Register: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "register",
            abstract: "Create the configured e-mail/password account."
        )

        @OptionGroup var user: UserArgument

        func run() async throws {
            try await user.perform(.register)
        }
    }

    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "confirm",
            abstract: "Confirm an account with the token that its owner was sent.",
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
            abstract: "Make the server send the confirmation of the configured account again."
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Make the server call the app's own function instead.")
        var function = false

        func run() async throws {
            try await user.perform(.resendConfirmation, UserRequest(callsFunction: function))
        }
    }

    struct ResetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset-password",
            abstract: "Set an account's password to the one that the configuration refers to.",
            discussion: """
                Without --confirm it asks the server to send the account's owner a token; with it, it \
                sets the password with that token. \(MailedToken.discussion)
                """
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Read the token from standard input, and set the password with it.")
        var confirm = false

        @Flag(help: "Make the app's own function decide instead.")
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

/// The mailed token of an account, from standard input: on a command line other users could read
/// it.
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
