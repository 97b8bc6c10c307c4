import Changesets
import Merge
import ServerStore
import SyncProtocol
import Versions

/// An uploaded changeset, decoded before the transaction that integrates it: nothing is parsed while others
/// wait for the file.
struct ParsedChangeset: Sendable {
    let cursor: UploadCursor
    let originTimestamp: OriginTimestamp
    let sizeInBytes: Int
    /// A refusal counts only once the checks against the store have passed, and not for a changeset that
    /// is integrated already.
    private let content: Result<ReceivedChangeset, IntegrationRefusal>

    /// - Parameter mayStayPlain: whether its instructions will probably not be needed, if all of them create
    ///   objects and set their properties.
    init(_ changeset: UploadChangeset, mayStayPlain: Bool) {
        self.cursor = changeset.cursor
        self.originTimestamp = changeset.originTimestamp
        self.sizeInBytes = changeset.bytes.count
        self.content = Result { () throws(DecodeError) in
            try ReceivedChangeset(decoding: changeset.bytes, mayStayPlain: mayStayPlain)
        }.mapError { error in
            .badChangeset(
                reason: "client version \(changeset.cursor.clientVersion.rawValue): \(error)"
            )
        }
    }

    func received() throws(IntegrationRefusal) -> ReceivedChangeset {
        try content.get()
    }

    /// For merges.
    func operand(of client: FileIdent) throws(IntegrationRefusal) -> MergeOperand {
        MergeOperand(
            changeset: try received().changeset,
            stamp: Stamp(timestamp: originTimestamp.rawValue, fileIdent: client.rawValue)
        )
    }

    /// The objects that it is about, each once for every run of instructions about it.
    var objects: [ObjectReference] {
        guard case .success(let received) = content else { return [] }
        if let plain = received.plain { return plain.objects }
        let changeset = received.changeset
        var objects: [ObjectReference] = []
        var last: Instruction.ObjectTarget?
        for instruction in changeset.instructions {
            guard let target = instruction.objectTarget, target != last else { continue }
            objects.append(changeset.reference(target))
            last = target
        }
        return objects
    }
}
