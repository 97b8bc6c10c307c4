import ArgumentParser

@main
struct RealmServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realm-server",
        abstract: "The backend that Realm apps and realm-agent sync with.",
        subcommands: [
            Serve.self, Check.self, Apps.self, Users.self, APIKeys.self, Sync.self, Rules.self,
            Realms.self,
        ]
    )
}
