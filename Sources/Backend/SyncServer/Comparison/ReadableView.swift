import Changesets
import Documents
import Permissions
import Query
import Schemas
import ServerStore
import Versions

/// The objects that a client has and its user may read, at one version of the client (flexible sync,
/// 1).
struct ReadableView: Sendable {
    /// The subscriptions and read filters in force at the client's version.
    private let view: ClientView
    /// All that the user may read now: it may be less.
    private let readable: ClientView

    /// Nil if the view has changed since the version: the client must sync first.
    init?(
        of client: ClientFile,
        _ user: User,
        of app: AppID,
        at version: ServerVersion,
        in file: ServerFileID,
        _ settings: FlexibleSettings,
        _ schema: RealmSchema,
        _ store: any FileReading
    ) throws(StoreError) {
        let epochs = try store.viewEpochs(of: client.ident, in: file)
        guard epochs.allSatisfy({ $0.start <= version }) else { return nil }
        self.view = ViewTimeline(epochs, schema).view(at: version)
        var everything: [Text: CheckedQuery] = [:]
        for owner in schema.classes where !owner.isEmbedded && !owner.isAsymmetric {
            everything[owner.name] = CheckedQuery(true, of: owner.name)
        }
        self.readable = ClientView(
            everything,
            try settings.rights(of: user, in: app, schema, store),
            schema
        )
    }

    func contains(_ object: DocumentObject, _ className: Text) -> Bool {
        view.contains(object, className) && readable.contains(object, className)
    }

    /// The object as the client has it: with the defaults of fields that its user may not read.
    func masked(_ document: Document, of owner: ClassSchema) -> Document {
        document.masked(view.fields(of: owner.name), of: owner)
            .masked(readable.fields(of: owner.name), of: owner)
    }

    /// Nil if the view has no objects of the class.
    func query(of className: Text) -> CheckedQuery? { view.query(of: className) }
}
