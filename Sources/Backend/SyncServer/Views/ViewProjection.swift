import Changesets
import Documents
import Permissions
import Schemas
import ServerStore
import Versions

/// The form in which a client gets each object that a part of the history touched (flexible sync, 8.2).
struct ViewProjection {
    enum Form: Hashable {
        /// The instructions of the history.
        case raw
        /// The object as it is at the end, if it is in the view then.
        case fullState
        /// It left the view, or was deleted outside of it.
        case erasure
    }

    /// Objects that are not in it were never in the view.
    private var forms: [ObjectReference: Form] = [:]
    /// Objects that do not come as raw instructions, in order.
    private var states: [ObjectReference] = []
    private let file: ServerFileID
    /// At the end.
    private let view: ClientView

    init(
        _ touches: Touches,
        _ timeline: ViewTimeline,
        after start: ServerVersion,
        upTo end: ServerVersion,
        _ images: ObjectImages,
        in file: ServerFileID
    ) throws(StoreError) {
        self.file = file
        self.view = timeline.view(at: end)
        for object in touches.objects {
            let course = try timeline.course(
                of: object,
                touches: touches[object],
                present: nil,
                after: start,
                upTo: end,
                images
            )
            guard course.wasInside else { continue }
            if course.isContinuous {
                forms[object] = .raw
            } else {
                forms[object] =
                    switch course.state {
                    case .inside, .unknown: .fullState
                    case .outside, .missing: .erasure
                    }
                states.append(object)
            }
        }
    }

    /// Whether the state at the end is not the present one.
    func needsFullState(
        changedAfter end: ServerVersion,
        in file: ServerFileID,
        _ store: any FileReading
    ) throws(StoreError) -> Bool {
        for object in states where forms[object] == .fullState {
            if try !store.touches(of: object, in: file, after: end).isEmpty { return true }
        }
        return false
    }

    /// The part of an entry that its client gets unchanged; empty if there is none. Asymmetric objects
    /// are never touched.
    func raw(of entry: HistoryEntry) throws(StoreError) -> [UInt8] {
        guard !entry.changeset.isEmpty else { return [] }
        guard let changeset = try? Changeset(decoding: entry.changeset) else {
            throw StoreError.damagedEntry(entry.version.version, of: file)
        }
        let kept = changeset.instructions.filter { instruction in
            guard let target = instruction.objectTarget else { return true }
            guard forms[changeset.reference(target)] == .raw else { return false }
            // An object whose visible fields changed has another form.
            guard let path = instruction.pathTarget else { return true }
            return view.fields(of: changeset.text(target.className))
                .contains(changeset.text(path.field))
        }
        guard kept.count < changeset.instructions.count else { return entry.changeset }
        guard !kept.isEmpty else { return [] }
        return Changeset(strings: changeset.strings, instructions: kept).encoded()
    }

    /// Adds the objects that come as they are, in the last version. Returns false if there is none.
    func appendStates(
        to changesets: inout [DownloadChangeset],
        at end: DownloadCursor,
        _ now: OriginTimestamp,
        _ schema: RealmSchema,
        _ store: any FileReading
    ) throws -> Bool {
        guard !states.isEmpty else { return false }
        var writer = ChangesetWriter()
        var stamp = (timestamp: now, origin: FileIdent.server)
        if let last = changesets.last, last.cursor.serverVersion == end.serverVersion {
            // A version must not come twice. Both parts can have one stamp: an erasure wins over
            // all concurrent changes, of any time.
            let raw = try Changeset(decoding: last.bytes)
            for instruction in raw.instructions { writer.append(instruction, of: raw) }
            stamp = (last.originTimestamp, last.originFileIdent)
            changesets.removeLast()
        }
        let states = ObjectStates(schema, of: file)
        for object in self.states {
            let isPresent = forms[object] == .fullState
            try states.write(
                object,
                document: isPresent ? try store.document(object, in: file) : nil,
                in: view,
                into: &writer
            )
        }
        changesets.append(
            DownloadChangeset(
                cursor: end,
                originTimestamp: stamp.timestamp,
                originFileIdent: stamp.origin,
                originalSizeInBytes: UInt64(writer.sizeInBytes),
                bytes: writer.bytes
            )
        )
        return true
    }
}
