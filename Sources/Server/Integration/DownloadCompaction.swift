import Changesets
import Merge
import Versions

/// Leaves out of a DOWNLOAD what a later changeset of the same message makes pointless
/// (sync history, 16).
///
/// A client that begins may have written something that nobody knows of yet, and merges it with what
/// it is sent, while the server merges it with the history. So only that is left out which changes
/// neither what the objects become nor what any concurrent change becomes (merge rules, 5 and 6):
///
/// * what happens to an object before it is erased; of several erasures those older than a later one,
/// * a simple value that a later update replaces which would win against it.
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
        /// Whether what it leaves depends on the value before: of two equal ones, the old representation
        /// stays (instruction semantics, 3.16).
        let dependsOnOldValue: Bool
    }

    /// The newest stamp of the erasures that come later.
    private var erasures: [ObjectReference: Stamp] = [:]
    /// Updates that come later, with nothing in between that looks at the property.
    private var updates: [ObjectReference: [Text: LaterUpdate]] = [:]

    /// The same changesets in the same order, each with what is still of use; those of which nothing is
    /// left are gone. What is no changeset stays as it is.
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

    /// Instructions come here from the last one to the first.
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
            // A concurrent increment is lost where it meets something that is no number.
            !later.isInt || update.payload.isInt || update.payload == .null
        {
            return false
        }
        updates[object, default: [:]][field] = this
        return true
    }
}

extension Instruction.Update {
    /// A value of its own, put straight into a property.
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

    /// Whether there are other values that equal this one; where the property is not known, any
    /// decimal may be in Mixed.
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
