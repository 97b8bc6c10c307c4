import Changesets
import Merge
import Versions

/// Leaves out of a DOWNLOAD the changes that a later changeset of the same message replaces (sync
/// history, 16).
///
/// A new client may have writes that it has not uploaded. It merges them with the message, while
/// the server merges them with the history. So a change is left out only if that alters neither the
/// objects nor the result of any concurrent change (merge rules, 5 and 6):
///
/// * changes of an object before its erasure; of several erasures those older than a later one,
/// * a simple value that a later, winning update replaces.
///
/// Lists, sets, counters and the schema are never touched.
struct DownloadCompaction {
    private struct Property: Hashable {
        let object: ObjectReference
        let field: Text
    }

    private struct LaterUpdate {
        let stamp: Stamp
        let isDefault: Bool
        let isInt: Bool
        /// Whether its result depends on the value before: of two equal ones, the old
        /// representation stays (instruction semantics, 3.16).
        let dependsOnOldValue: Bool
    }

    /// The newest stamp of later erasures.
    private var erasures: [ObjectReference: Stamp] = [:]
    /// Later updates, with no instruction in between that reads the property.
    private var updates: [ObjectReference: [Text: LaterUpdate]] = [:]

    /// Returns the changesets in the same order, each without its replaced changes; empty ones are
    /// removed. Bytes that are not a changeset are unchanged.
    static func compact(_ changesets: [DownloadChangeset]) -> [DownloadChangeset] {
        var compaction = DownloadCompaction()
        var kept: [DownloadChangeset] = []
        for changeset in changesets.reversed() {
            guard let decoded = try? Changeset(decoding: changeset.bytes) else { return changesets }
            let instructions = compaction.needed(of: decoded, changeset.stamp)
            guard !instructions.isEmpty else { continue }
            let isWhole = instructions.count == decoded.instructions.count
            kept.append(
                isWhole
                    ? changeset
                    : changeset.replacing(
                        Changeset(strings: decoded.strings, instructions: instructions).encoded()
                    )
            )
        }
        return kept.reversed()
    }

    private mutating func needed(of changeset: Changeset, _ stamp: Stamp) -> [Instruction] {
        var kept: [Instruction] = []
        for instruction in changeset.instructions.reversed()
        where isNeeded(instruction, of: changeset, stamp) {
            kept.append(instruction)
        }
        return kept.reversed()
    }

    /// To be called from the last instruction to the first.
    private mutating func isNeeded(
        _ instruction: Instruction,
        of changeset: Changeset,
        _ stamp: Stamp
    ) -> Bool {
        guard let target = instruction.objectTarget else { return true }
        let object = changeset.reference(target)
        if case .eraseObject = instruction {
            updates[object] = nil
            if let later = erasures[object], later >= stamp { return false }
            erasures[object] = max(stamp, erasures[object] ?? stamp)
            return true
        }
        guard erasures[object] == nil else { return false }
        guard let field = (instruction.pathTarget?.field).map({ changeset.text($0) }) else {
            return true
        }
        guard case .update(let update) = instruction, update.isSimple else {
            updates[object]?[field] = nil
            return true
        }
        let this = LaterUpdate(
            stamp: stamp,
            isDefault: update.detail == .isDefault(true),
            isInt: update.payload.isInt,
            dependsOnOldValue: update.payload.mayEqualAnother
        )
        if let later = updates[object]?[field], later.stamp >= stamp,
            later.isDefault == this.isDefault, !later.dependsOnOldValue,
            // A concurrent increment is lost if it meets a value that is not a number.
            !later.isInt || update.payload.isInt || update.payload == .null
        {
            return false
        }
        updates[object, default: [:]][field] = this
        return true
    }
}

extension Instruction.Update {
    /// A value directly in a property, not a collection or object.
    fileprivate var isSimple: Bool {
        guard target.path.isEmpty else { return false }
        switch payload {
        case .null, .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .link,
            .objectID, .uuid:
            return true
        case .objectValue, .dictionary, .list, .set, .erased: return false
        }
    }
}

extension Payload {
    fileprivate var isInt: Bool {
        if case .int = self { true } else { false }
    }

    /// Whether another value equals this one; if the property is not known, any decimal may be in
    /// Mixed.
    fileprivate var mayEqualAnother: Bool {
        switch self {
        case .float(let value): value.value == 0
        case .double(let value): value.value == 0
        case .decimal: true
        default: false
        }
    }
}

extension DownloadChangeset {
    fileprivate var stamp: Stamp {
        Stamp(timestamp: originTimestamp.rawValue, fileIdent: originFileIdent.rawValue)
    }

    fileprivate func replacing(_ bytes: [UInt8]) -> DownloadChangeset {
        DownloadChangeset(
            cursor: cursor,
            originTimestamp: originTimestamp,
            originFileIdent: originFileIdent,
            originalSizeInBytes: originalSizeInBytes,
            bytes: bytes
        )
    }
}
