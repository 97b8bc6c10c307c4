import Changesets
import Query
import Scopes
import SyncProtocol

extension SyncApp {
    /// The answer to clients of the other mode whose realm can be switched to this one, by the path of
    /// their BIND (flexible sync, 16.1); nil if none can.
    var switchFault: (@Sendable (Text) -> SessionFault?)? {
        guard let partitionKey else { return nil }
        return { path in self.switchFault(for: path, by: partitionKey) }
    }

    private func switchFault(for path: Text, by partitionKey: Text) -> SessionFault? {
        guard flexible != nil else {
            // Only a realm that was partition-based before: others must be changed by their app.
            let binding = FlexibleBinding(decoding: path)
            return binding?.migratedPartition.map { _ in .revertToPartitionBasedSync }
        }
        return Partition(extendedJSON: path.bytes).map { partition in
            .migrateToFlexibleSync(
                partitionQuery: PartitionQuery.text(partitionKey, partition.queryValue)
            )
        }
    }
}

extension Partition {
    fileprivate var queryValue: QueryValue {
        switch self {
        case .null: .null
        case .string(let text): .string(text.bytes)
        case .int(let value): .int(value)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        }
    }
}
