import Changesets
import Documents
import Query
import Schemas
import ServerStore
import SyncProtocol
import Versions

/// Makes the messages of one bootstrap, one at a time, each from the same state of the store (flexible
/// sync, 7): the schema, the objects that leave the view, the objects that enter it.
struct Bootstrap: Sendable {
    private let plan: BootstrapPlan
    private let limits: ViewLimits
    private let exceptions: [ObjectReference: BootstrapPlan.Exception]
    private let steps: [Step]
    private var position = 0
    /// The last object read of the current class.
    private var lastKey: ObjectKey?

    private enum Step: Sendable {
        case schema
        case leaving(ClassSchema)
        case entering(ClassSchema)
        case exceptions
    }

    init(_ plan: BootstrapPlan, _ limits: ViewLimits) {
        self.plan = plan
        self.limits = limits
        self.exceptions = Dictionary(
            plan.exceptions.map { ($0.object, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let classes = plan.changedClasses
        self.steps =
            [.schema] + classes.map { .leaving($0) } + classes.map { .entering($0) } + [.exceptions]
    }

    /// Whether no message is left.
    var isComplete: Bool { position == steps.count }

    /// By steps: the size of what is left is not known.
    var estimate: ProgressEstimate {
        ProgressEstimate(tenThousandths: position * 10_000 / steps.count) ?? .none
    }

    /// The changesets of the next message; nil after the last one.
    mutating func next(from store: any FileReading) throws(StoreError) -> [DownloadChangeset]? {
        guard position < steps.count else { return nil }
        var changesets: [DownloadChangeset] = []
        var sizeInBytes = 0
        while sizeInBytes < limits.messageSizeInBytes, position < steps.count {
            let bytes = try nextChangeset(from: store)
            sizeInBytes += bytes.count
            if !bytes.isEmpty { changesets.append(changeset(bytes)) }
        }
        // Clients wait forever for the end of a bootstrap without changesets.
        return changesets.isEmpty ? [changeset([])] : changesets
    }

    private func changeset(_ bytes: [UInt8]) -> DownloadChangeset {
        DownloadChangeset(
            cursor: plan.progress.download,
            originTimestamp: plan.now,
            originFileIdent: .server,
            originalSizeInBytes: UInt64(bytes.count),
            bytes: bytes
        )
    }

    /// May be empty.
    private mutating func nextChangeset(from store: any FileReading) throws(StoreError) -> [UInt8] {
        var writer = ChangesetWriter()
        var isFull = false
        while !isFull, position < steps.count {
            switch steps[position] {
            case .schema: plan.schema.writeAdditions(to: RealmSchema(), into: &writer)
            case .leaving(let owner):
                let queries = plan.earlier.compactMap { $0.query(of: owner.name) }
                isFull = try visit(owner, queries, store, &writer) { views, object, _, writer in
                    if views.leaves { writer.eraseObject(object) }
                }
            case .entering(let owner):
                let query = plan.view.query(of: owner.name)
                let objects = ObjectWriter(of: owner, in: plan.schema)
                isFull = try visit(owner, query.map { [$0] } ?? [], store, &writer) {
                    [fields = plan.view.fields(of: owner.name)]
                    views,
                    object,
                    document,
                    writer in
                    guard views.enters else { return }
                    writer.eraseObject(object)
                    let visible = document.masked(fields, of: owner)
                    objects.write(visible, as: object, into: &writer)
                }
            case .exceptions: try writeExceptions(into: &writer)
            }
            if !isFull {
                position += 1
                lastKey = nil
            }
        }
        return writer.isEmpty ? [] : writer.bytes
    }

    /// An object's place in the earlier views and the new one.
    private struct Membership {
        /// In one of the earlier views.
        let wasInside: Bool
        /// In all of them, with the fields of the new one: the client has it, and its history.
        let stayedInside: Bool
        let isInside: Bool

        var leaves: Bool { wasInside && !isInside }
        var enters: Bool { isInside && !stayedInside }
    }

    private func membership(of object: DocumentObject, _ className: Text) -> Membership {
        let earlier = plan.earlier.map { $0.contains(object, className) }
        return Membership(
            wasInside: earlier.contains(true),
            stayedInside: !earlier.contains(false)
                && plan.earlier.allSatisfy { $0.hasSameFields(as: plan.view, of: className) },
            isInside: plan.view.contains(object, className)
        )
    }

    /// Visits the objects of a class that match a query; returns true when the changeset is full.
    private mutating func visit(
        _ owner: ClassSchema,
        _ queries: [CheckedQuery],
        _ store: any FileReading,
        _ writer: inout ChangesetWriter,
        _ write: (Membership, ObjectReference, Document, inout ChangesetWriter) -> Void
    ) throws(StoreError) -> Bool {
        let decoder = DocumentDecoder(of: owner, JSONForm(schema: plan.schema))
        var isFull = false
        var last = lastKey
        try store.forEachCandidate(
            for: queries,
            of: owner.name,
            in: plan.file,
            after: lastKey
        ) { key, json throws(StoreError) in
            let object = ObjectReference(className: owner.name, key: key)
            last = key
            guard exceptions[object] == nil else { return .next }
            let document = try decoder.decodeStored(json, in: plan.file)
            let membership = membership(
                of: DocumentObject(key: key, document, of: owner),
                owner.name
            )
            write(membership, object, document, &writer)
            isFull = writer.sizeInBytes > limits.changesetSizeInBytes
            return isFull ? .stop : .next
        }
        lastKey = last
        return isFull
    }

    /// Few objects: those that changed while the bootstrap began.
    private func writeExceptions(into writer: inout ChangesetWriter) throws(StoreError) {
        let states = ObjectStates(plan.schema, of: plan.file)
        let form = JSONForm(schema: plan.schema)
        for exception in plan.exceptions {
            let object = exception.object
            guard let owner = plan.schema[object.className], !owner.isEmbedded, !owner.isAsymmetric
            else { continue }
            guard exception.stays != true else { continue }
            guard let json = exception.document else {
                if exception.stays == false { writer.eraseObject(object) }
                continue
            }
            let document = try form.decodeStored(json, of: owner, in: plan.file)
            let membership = membership(
                of: DocumentObject(key: object.key, document, of: owner),
                object.className
            )
            if membership.isInside, exception.stays == false || membership.enters {
                try states.write(object, document: json, in: plan.view, into: &writer)
            } else if !membership.isInside, exception.stays == false || membership.leaves {
                writer.eraseObject(object)
            }
        }
    }
}
