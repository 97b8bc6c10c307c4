import Changesets
import Schemas

/// The classes of a server file whose objects are only uploaded (flexible sync, 14). No client gets
/// one, not even in old history.
struct AsymmetricClasses {
    private let names: Set<Text>

    init(of schema: RealmSchema) {
        self.names = Set(schema.classes.lazy.filter(\.isAsymmetric).map(\.name))
    }

    var isEmpty: Bool { names.isEmpty }

    /// The changeset for clients: without the objects of these classes.
    func removing(from changeset: Changeset) -> Changeset {
        guard !names.isEmpty else { return changeset }
        let kept = changeset.instructions.filter { !isAboutOne($0, changeset) }
        guard kept.count < changeset.instructions.count else { return changeset }
        return Changeset(strings: changeset.strings, instructions: kept)
    }

    /// The same for an encoded changeset. History of an earlier version still holds such objects.
    func removing(from bytes: [UInt8]) -> [UInt8] {
        // Changesets contain names unencoded, so most need not be parsed.
        guard names.contains(where: { bytes.holds($0.bytes) }),
            let changeset = try? Changeset(decoding: bytes)
        else { return bytes }
        let visible = removing(from: changeset)
        guard visible.instructions.count < changeset.instructions.count else { return bytes }
        return visible.instructions.isEmpty ? [] : visible.encoded()
    }

    private func isAboutOne(_ instruction: Instruction, _ changeset: Changeset) -> Bool {
        guard let target = instruction.objectTarget else { return false }
        return names.contains(changeset.text(target.className))
    }
}

extension [UInt8] {
    /// Whether these bytes contain the others.
    fileprivate func holds(_ other: [UInt8]) -> Bool {
        guard let first = other.first, count >= other.count else { return other.isEmpty }
        var start = startIndex
        let last = count - other.count
        while let found = self[start...last].firstIndex(of: first) {
            if self[found..<found + other.count].elementsEqual(other) { return true }
            start = found + 1
            guard start <= last else { return false }
        }
        return false
    }
}
