import ServerStore
import Versions

extension [RejectedChangeset] {
    /// The rejected writes of a client after a version.
    init(
        of client: FileIdent,
        after version: ServerVersion,
        in file: ServerFileID,
        isFlexible: Bool,
        from store: any FileReading
    ) throws(StoreError) {
        self = []
        if isFlexible {
            for rejection in try store.rejections(of: client, in: file, after: version) {
                append(try RejectedChangeset(rejection, in: file))
            }
        } else {
            for entry in try store.compensatingEntries(of: file, after: version, for: client) {
                append(
                    RejectedChangeset(
                        Compensation.objects(compensatedBy: entry.changeset),
                        in: entry.clientVersion,
                        compensatedAt: entry.version.version
                    )
                )
            }
        }
    }
}
