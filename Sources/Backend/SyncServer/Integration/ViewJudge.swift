import Changesets
import Documents
import Permissions
import Query
import Schemas
import ServerStore
import Versions

/// Decides which writes of one client's upload its view and its user's rights allow (flexible sync,
/// 11.1 and 13.5).
struct ViewJudge {
    /// The view in force.
    let view: ClientView
    private let timeline: ViewTimeline
    private let ranges: [ViewRange]
    private var rights: UserRights
    private let user: User
    private let settings: FlexibleSettings
    private let file: ServerFile
    private let store: any FileReading
    private var rules: [Text: WriteRules] = [:]

    init(
        of client: ClientFile,
        in file: ServerFile,
        _ settings: FlexibleSettings,
        _ transaction: any StoreTransaction
    ) throws {
        guard let user = try transaction.user(client.owner, of: file.app) else {
            throw IntegrationRefusal.unknownClientFile
        }
        let schema = try transaction.schema(of: file.id)
        self.timeline = ViewTimeline(
            try transaction.viewEpochs(of: client.ident, in: file.id),
            schema
        )
        self.view = timeline.view(at: file.currentVersion)
        self.ranges = try transaction.viewRanges(
            of: client.ident,
            in: file.id,
            after: client.upload.lastIntegratedServerVersion
        )
        self.rights = try settings.rights(of: user, in: file.app, schema, transaction)
        self.user = user
        self.settings = settings
        self.file = file
        self.store = transaction
    }

    /// The upload has added classes or properties.
    mutating func noteSchema(_ schema: RealmSchema) throws(StoreError) {
        rights = try settings.rights(of: user, in: file.app, schema, store)
        rules = [:]
    }

    /// The objects of a changeset that were outside of the view since its base. Their client was told,
    /// or will be, by an erasure; that beats its change.
    func discontinuous(
        _ changeset: Changeset,
        madeOn base: ServerVersion,
        _ schema: RealmSchema
    ) throws(StoreError) -> Set<ObjectReference> {
        // Versions of one range came as a unit.
        let base = ranges.first { $0.start < base && base < $0.end }?.start ?? base
        let images = ObjectImages(schema, of: file.id, settings)
        var found: Set<ObjectReference> = []
        for object in changeset.objects where schema[object.className]?.isAsymmetric != true {
            let touches = try store.touches(of: object, in: file.id, after: base)
            let present =
                touches.isEmpty
                ? try store.document(object, in: file.id).flatMap { (json) throws(StoreError) in
                    try images.object(document: json, object)
                } : nil
            let course = try timeline.course(
                of: object,
                touches: touches,
                present: present,
                after: base,
                upTo: file.currentVersion,
                images
            )
            if !course.isContinuous { found.insert(object) }
        }
        return found
    }

    /// The reason for rejecting a write; nil if it is allowed.
    mutating func rejection(
        of object: ObjectReference,
        from old: Document?,
        to new: Document?,
        changing fields: Set<Text>,
        _ owner: ClassSchema
    ) -> WriteRejection? {
        let write = ObjectWrite(
            object,
            old: old.map { DocumentObject(key: object.key, $0, of: owner) },
            new: new.map { DocumentObject(key: object.key, $0, of: owner) },
            changedFields: fields
        )
        let rules = self.rules(of: owner)
        guard !owner.isAsymmetric else { return rules.rejection(ofAsymmetric: write) }
        guard
            [write.old, write.new].compactMap(\.self).allSatisfy({
                view.contains($0, owner.name)
            })
        else { return .outsideView }
        return rules.rejection(of: write)
    }

    private mutating func rules(of owner: ClassSchema) -> WriteRules {
        if let known = rules[owner.name] { return known }
        let rights = rights[owner.name]
        // The view is the one in force for the session, which is checked before.
        let everything = CheckedQuery(true, of: owner.name)
        let made = WriteRules(
            view: ClassView(subscription: everything, rights: rights),
            rights: rights
        )
        rules[owner.name] = made
        return made
    }
}
