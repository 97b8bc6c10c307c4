import Changesets
package import Documents
import Schemas
import Synchronization

/// What an upload brought that fits nothing at the server, and how its client is put right
/// (sync history, 14.6).
///
/// Everything else of the upload counts. The client gets what it got wrong as the server has it, in versions
/// of its own that no other client sees.
package struct Healing: Hashable, Sendable {
    /// Each object once, in the order in which they came up.
    package var misfits: [Admission.Misfit] = []

    /// The objects whose dropped values exist nowhere else: their client is told (231).
    var losses: [Admission.Misfit] { misfits.filter(\.losesData) }
    /// The others, which are put right in silence.
    var corrections: [Admission.Misfit] { misfits.filter { !$0.losesData } }
}

/// Makes what a client got wrong what it is at the server.
///
/// Only the properties concerned are set: what the client has not uploaded yet of the others must survive
/// the merge with this, and an erasure of the object would win over it.
struct Correction {
    let objects: [ObjectReference]
    let changeset: [UInt8]

    /// Asymmetric objects are never sent to a client. Throws `IntegrationRefusal` if it takes more than the
    /// limit: a client reset brings the same.
    init(of misfits: [Admission.Misfit], from store: FileObjects, limitInBytes: Int) throws {
        let diff = ValueDiff(schema: store.schema)
        var writer = ChangesetWriter()
        for misfit in misfits {
            guard let owner = store.schema[misfit.object.className], !owner.isAsymmetric else {
                continue
            }
            let document = try store.document(for: misfit.object)
            if misfit.wasMissing || document == nil {
                writer.eraseObject(misfit.object)
                if let document {
                    writer.writeObject(document, as: misfit.object, of: owner, in: store.schema)
                }
            } else if let document {
                for (property, value) in zip(owner.properties, document.values)
                where misfit.fields.contains(property.name) {
                    diff.writeReplacement(value, of: property, in: misfit.object, into: &writer)
                }
            }
            guard writer.sizeInBytes <= limitInBytes else {
                throw IntegrationRefusal.badChangeset(
                    reason: "what it does not fit has more than \(limitInBytes) bytes"
                )
            }
        }
        self.objects = misfits.map(\.object)
        self.changeset = writer.bytes
    }
}

/// How many uploads were healed since the process started, by app.
final class HealedUploads: Sendable {
    private let counts = Mutex<[AppID: Int]>([:])

    func count(one app: AppID) {
        counts.withLock { $0[app, default: 0] += 1 }
    }

    subscript(app: AppID) -> Int {
        counts.withLock { $0[app] ?? 0 }
    }
}
