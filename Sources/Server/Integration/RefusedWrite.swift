import Changesets
import Documents
import Schemas
package import SyncProtocol
package import Versions

/// A changeset whose writes were not allowed, and the version that undoes them for its client
/// (wire protocol, 13.5).
package struct RefusedWrite: Hashable, Sendable {
    package let updates: SessionFault.RejectedUpdates
    package let undoneAt: ServerVersion

    static let reason = "write not allowed"

    init(_ objects: [ObjectReference], in version: ClientVersion, undoneAt: ServerVersion) {
        self.updates = SessionFault.RejectedUpdates(
            clientVersion: version,
            updates: objects.map {
                RejectedUpdate(
                    className: $0.className.description,
                    key: $0.key,
                    reason: Self.reason
                )
            }
        )
        self.undoneAt = undoneAt
    }
}

/// What undoes the writes of one changeset: every object that it touched is erased, and made again as
/// the server has it.
struct Compensation {
    let objects: [ObjectReference]
    let changeset: [UInt8]

    init(
        of refused: Changeset,
        from store: FileObjects
    ) throws {
        var writer = ChangesetWriter()
        var seen: Set<ObjectReference> = []
        var objects: [ObjectReference] = []
        for object in refused.touchedObjects where seen.insert(object).inserted {
            guard let owner = store.schema[object.className], !owner.isEmbedded else {
                throw IntegrationRefusal.badChangeset(reason: "unknown class \(object.className)")
            }
            objects.append(object)
            writer.eraseObject(object)
            guard let document = try store.document(for: object) else { continue }
            writer.writeObject(document, as: object, of: owner, in: store.schema)
        }
        self.objects = objects
        self.changeset = writer.bytes
    }

    /// The objects that a compensation undoes: those it erases.
    static func objects(undoneBy changeset: [UInt8]) -> [ObjectReference] {
        guard let changeset = try? Changeset(decoding: changeset) else { return [] }
        return changeset.instructions.compactMap { instruction in
            guard case .eraseObject(let target) = instruction else { return nil }
            return changeset.reference(target)
        }
    }
}

extension Changeset {
    /// The same without what is about objects.
    var schemaChangesOnly: Changeset {
        Changeset(strings: strings, instructions: instructions.filter(\.changesSchema))
    }

    fileprivate var touchedObjects: [ObjectReference] {
        instructions.compactMap { instruction in
            switch instruction {
            case .createObject(let target), .eraseObject(let target): reference(target)
            case .update(let update): reference(update.target.object)
            case .setErase(let erase): reference(erase.target.object)
            case .addInteger(let target, amount: _), .arrayInsert(let target, _, priorSize: _),
                .arrayMove(let target, to: _, priorSize: _),
                .arrayErase(let target, priorSize: _), .clear(let target, _),
                .setInsert(let target, _):
                reference(target.object)
            case .addTable, .eraseTable, .addColumn, .eraseColumn: nil
            }
        }
    }
}
