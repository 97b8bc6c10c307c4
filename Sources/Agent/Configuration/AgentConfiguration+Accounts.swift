import AppServices
import Config
import RealmSync
import SQLite

extension AgentConfiguration {
    /// The place of the agent's records.
    var metadataFile: String { DataDirectory(path: daemon.dataDirectory).metadata }

    /// The account of a user's last log-in, as the agent's records have it; nil if there is none. Works beside a
    /// running agent.
    func storedAccount(of user: UserConfiguration) throws(SQLiteError) -> Account? {
        try MetadataDatabase.account(
            of: user.name,
            appID: user.app.appID,
            inFile: metadataFile
        )
    }
}
