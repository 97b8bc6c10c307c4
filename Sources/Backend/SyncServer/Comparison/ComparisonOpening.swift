import Changesets
import Digests
import Documents
import JSON
import Permissions
import Schemas
import Scopes
import ServerStore
import Versions

/// Checks a request to compare a client's realm, and finds what changed since the client's version.
struct ComparisonOpening {
    let request: DigestRequest
    let user: UserID
    let app: SyncApp
    let limits: ComparisonLimits
    /// The rules for this user and partition.
    private var rules: AccessRules
    /// The user's own object, without type tags, if the rules name it.
    private var customData: JSONValue?

    init(request: DigestRequest, user: UserID, app: SyncApp, limits: ComparisonLimits) {
        self.request = request
        self.user = user
        self.app = app
        self.limits = limits
        self.rules = app.access
    }

    /// With what decides on this user and partition: must be called first. Throws `ComparisonRefusal`,
    /// `AccessUndecided` and `StoreError`.
    func decidingAccess(_ engine: SyncEngine) async throws -> ComparisonOpening {
        guard app.flexible == nil else { return self }
        var decided = self
        decided.rules = try await engine.rules(of: app, for: user, to: try partition())
        guard decided.rules.read?.needsCustomData == true, let ruleData = app.ruleData else {
            return decided
        }
        decided.customData = try await engine.store.read { [user] in try ruleData(user, $0) }?.plain
        return decided
    }

    private func mayRead(_ user: User, _ partition: Partition) -> Bool {
        guard let rule = rules.read else { return true }
        guard !rule.needsCustomData || app.ruleData != nil else { return false }
        return rule.admits(user, to: partition, customData: customData)
    }

    enum Opened: Sendable {
        /// The response without a scan.
        case answered(DigestResponse)
        case scan(ComparisonScan)
    }

    /// Throws `ComparisonRefusal` and `StoreError`.
    func run(_ store: any StoreReading) throws -> Opened {
        let partition = try partition()
        guard let user = try store.user(user, of: app.id),
            mayRead(user, partition),
            let file = try store.file(of: app.id, partition),
            let client = try store.clientFile(FileIdent(request.fileIdent), in: file.id),
            client.salt.rawValue == request.fileIdentSalt, client.owner == user.id,
            client.generation == file.generation, !client.isExpired
        else { throw ComparisonRefusal.notAllowed }
        let version = ServerVersion(request.serverVersion)
        func answer(_ outcome: DigestResponse.Outcome) -> DigestResponse {
            DigestResponse(outcome, serverVersion: file.currentVersion.rawValue)
        }
        guard (file.baseVersion.version...file.currentVersion).contains(version) else {
            return .answered(answer(.moved))
        }
        let schema = try store.schema(of: file.id)
        let differences = schemaDifferences(schema)
        guard differences.isEmpty else {
            var response = answer(.schema)
            response.schema = Array(differences.prefix(limits.listedObjects))
            return .answered(response)
        }
        var view: ReadableView?
        if let settings = app.flexible {
            view = try ReadableView(
                of: client,
                user,
                of: app.id,
                at: version,
                in: file.id,
                settings,
                schema,
                store
            )
            guard view != nil else { return .answered(answer(.moved)) }
        }
        guard let changed = try changes(after: version, in: file, store) else {
            return .answered(answer(.moved))
        }
        let images = try visible(changed, after: version, in: file, schema, view, store)
        return .scan(
            ComparisonScan(
                request,
                of: file,
                schema,
                view,
                excluding: changed,
                reporting: images,
                limits
            )
        )
    }

    private func partition() throws(ComparisonRefusal) -> Partition {
        guard app.flexible == nil else { return .flexible }
        guard let text = request.partition, let partition = Partition(extendedJSON: text.utf8)
        else { throw .badPartition }
        return partition
    }

    /// Classes and properties that only one end has.
    private func schemaDifferences(_ schema: RealmSchema) -> [String] {
        var names: [String] = []
        for (name, properties) in CanonicalForm.properties(of: schema) {
            guard let compared = request.classes[name.description] else {
                names.append(name.description)
                continue
            }
            let here = Set(properties.map(\.description))
            names += here.symmetricDifference(compared).map { "\(name).\($0)" }
        }
        names += request.classes.keys.filter { name in
            schema[Text(name)].map { $0.isAsymmetric } ?? true
        }
        return names.sorted()
    }

    /// Nil if the schema changed, or more than the limits allow.
    private func changes(
        after version: ServerVersion,
        in file: ServerFile,
        _ store: any FileReading
    ) throws -> Set<ObjectReference>? {
        var changed = ChangedObjects()
        var sizeInBytes = 0
        var failure: DecodeError?
        try store.forEachChangeset(of: file.id, in: .zero, after: version) { _, bytes in
            sizeInBytes += bytes.count
            guard sizeInBytes <= limits.changedSizeInBytes else { return .stop }
            do throws(DecodeError) {
                try changed.add(bytes)
            } catch {
                failure = error
                return .stop
            }
            return changed.objects.count <= limits.changedObjects ? .next : .stop
        }
        guard failure == nil, !changed.hasSchemaChanges,
            sizeInBytes <= limits.changedSizeInBytes,
            changed.objects.count <= limits.changedObjects
        else { return nil }
        return changed.objects
    }

    /// The changed objects that the client may know of: those in its view before or now.
    private func visible(
        _ changed: Set<ObjectReference>,
        after version: ServerVersion,
        in file: ServerFile,
        _ schema: RealmSchema,
        _ view: ReadableView?,
        _ store: any FileReading
    ) throws(StoreError) -> [ObjectReference] {
        guard let view, let settings = app.flexible else { return Array(changed) }
        let images = ObjectImages(schema, of: file.id, settings)
        var visible: [ObjectReference] = []
        for object in changed {
            let before = try store.touches(of: object, in: file.id, after: version).first?.before
            let now = try store.document(object, in: file.id)
            let states = [
                try before.flatMap { (image) throws(StoreError) in
                    try images.object(image, object)?.object
                },
                try now.flatMap { (json) throws(StoreError) in
                    try images.object(document: json, object)
                },
            ]
            if states.contains(where: { $0.map { view.contains($0, object.className) } == true }) {
                visible.append(object)
            }
        }
        return visible
    }
}
