package import Changesets
package import Scopes
package import Versions

/// The rows that a body will probably read. A store behind a network fetches them all together with the
/// begin of the transaction (server on PostgreSQL, 2).
///
/// A hint that changes no result. A read that was not expected costs a round trip, and an expected one that
/// does not happen costs its rows. A store in the same process ignores it.
package struct ExpectedReads: Hashable, Sendable {
    /// Names a server file.
    package enum File: Hashable, Sendable {
        case id(ServerFileID)
        case partition(AppID, Partition)
    }

    /// Entries of the history that one client reads, oldest first.
    package struct History: Hashable, Sendable {
        package let after: ServerVersion
        package let reader: FileIdent
        /// Also the reciprocals of these entries for the reader.
        package let withReciprocals: Bool

        package init(after: ServerVersion, reader: FileIdent, withReciprocals: Bool = false) {
            self.after = after
            self.reader = reader
            self.withReciprocals = withReciprocals
        }
    }

    /// The rejected writes of the client after a version.
    package struct Rejected: Hashable, Sendable {
        package let after: ServerVersion
        /// Recorded ones; otherwise entries that compensate.
        package let isFlexible: Bool

        package init(after: ServerVersion, isFlexible: Bool) {
            self.after = after
            self.isFlexible = isFlexible
        }
    }

    /// Rows about one user of an app.
    package struct Account: Hashable, Sendable {
        package let app: AppID
        package let user: UserID?
        package let name: UserName?
        package let session: SessionDigest?

        package init(
            app: AppID,
            user: UserID? = nil,
            name: UserName? = nil,
            session: SessionDigest? = nil
        ) {
            self.app = app
            self.user = user
            self.name = name
            self.session = session
        }
    }

    /// The server file that everything else of a file belongs to. With it comes the salt of its current
    /// version.
    package var file: File?
    package var client: FileIdent?
    package var rejected: Rejected?
    package var hasSchema: Bool
    /// Other versions whose salts are read.
    package var salts: [ServerVersion]
    package var history: History?
    package var documents: [ObjectReference]
    /// A user whose usage is compared with its quotas.
    package var usage: UserID?
    package var account: Account?

    package static let none = ExpectedReads()

    package init(
        file: File? = nil,
        client: FileIdent? = nil,
        rejected: Rejected? = nil,
        hasSchema: Bool = false,
        salts: [ServerVersion] = [],
        history: History? = nil,
        documents: [ObjectReference] = [],
        usage: UserID? = nil,
        account: Account? = nil
    ) {
        self.file = file
        self.client = client
        self.rejected = rejected
        self.hasSchema = hasSchema
        self.salts = salts
        self.history = history
        self.documents = documents
        self.usage = usage
        self.account = account
    }
}
