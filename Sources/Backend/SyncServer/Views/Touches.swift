import Changesets
import ServerStore
import Versions

/// The objects that a part of a history touched, in order of the first change of each.
struct Touches {
    private(set) var objects: [ObjectReference] = []
    private var changes: [ObjectReference: [TouchedObject]] = [:]

    /// Throws `ViewTooLarge` beyond the limit.
    init(
        of file: ServerFileID,
        after start: ServerVersion,
        upTo end: ServerVersion,
        limitInBytes: Int,
        _ store: any FileReading
    ) throws {
        var sizeInBytes = 0
        var (objects, changes) = (self.objects, self.changes)
        try store.forEachTouchedObject(of: file, after: start, upTo: end) { touch in
            sizeInBytes += touch.sizeInBytes
            guard sizeInBytes <= limitInBytes else { return .stop }
            if changes[touch.object] == nil { objects.append(touch.object) }
            changes[touch.object, default: []].append(touch)
            return .next
        }
        guard sizeInBytes <= limitInBytes else { throw ViewTooLarge() }
        (self.objects, self.changes) = (objects, changes)
    }

    /// Oldest first.
    subscript(object: ObjectReference) -> [TouchedObject] { changes[object] ?? [] }
}
