import Changesets
import Documents
import Schemas
package import ServerStore
import Synchronization

/// The changes of an upload that do not fit the server's state, and the corrections for its client
/// (sync history, 14.6).
///
/// The rest of the upload is integrated. The client gets the server's values of the affected
/// properties, in versions that no other client gets.
struct Healing: Hashable, Sendable {
    /// Each object once, in the order of the upload.
    var misfits: [Admission.Misfit] = []

    /// The objects whose dropped values exist nowhere else: reported to the client (231).
    var losses: [Admission.Misfit] { misfits.filter(\.losesData) }
    /// The others, which are corrected without a report.
    var corrections: [Admission.Misfit] { misfits.filter { !$0.losesData } }
}

/// Sets the affected properties of a client to the server's values.
///
/// Sets only the affected properties. Pending uploads of the others must survive the merge with
/// this, and an erasure of the object would win over them.
struct Correction {
    let objects: [ObjectReference]
    let changeset: [UInt8]

    /// Asymmetric objects are never sent to a client. Throws `IntegrationRefusal` beyond the limit:
    /// a client reset has the same effect.
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
                    reason: "its corrections have more than \(limitInBytes) bytes"
                )
            }
        }
        self.objects = misfits.map(\.object)
        self.changeset = writer.bytes
    }
}

/// Counts the corrected uploads since the process started, by app.
package final class CorrectedUploads: Sendable {
    private let counts = Mutex<[AppID: Int]>([:])

    func count(one app: AppID) {
        counts.withLock { $0[app, default: 0] += 1 }
    }

    /// Corrected uploads of an app.
    package subscript(app: AppID) -> Int {
        counts.withLock { $0[app] ?? 0 }
    }
}
