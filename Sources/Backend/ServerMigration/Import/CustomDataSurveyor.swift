import BSON
import Changesets
package import Migration

/// Reads the documents of custom user data, for what only they tell (moving an app, 5).
package struct CustomDataSurveyor {
    private let database: String
    private let collection: String
    private let partitionKey: String?

    package init(database: String, collection: String, partitionKey: String?) {
        self.database = database
        self.collection = collection
        self.partitionKey = partitionKey
    }

    private static let mostFields = 200

    package func run(_ sources: [String]) throws(MigrationFailure) -> CustomDataSurvey {
        var survey = CustomDataSurvey()
        var keyTypes: Set<PrimaryKeyType?> = []
        for source in sources {
            for file in try SourceFiles.find(source) {
                let cursor = try SourceCursor(file)
                while let events = try cursor.next() {
                    for case .document(let from, let document, _) in events {
                        guard from.name == collection || from.name == "\(database).\(collection)",
                            from.database == nil || from.database == database
                        else { continue }
                        keyTypes.insert(Self.keyType(document["_id"]))
                        note(document, in: &survey)
                    }
                }
            }
        }
        if keyTypes.count == 1, let type = keyTypes.first { survey.keyType = type }
        return survey
    }

    private func note(_ document: BSONDocument, in survey: inout CustomDataSurvey) {
        for field in document.fields where survey.fields.count < Self.mostFields {
            guard let name = field.name.string, name != "_id__baas_transaction",
                !survey.fields.contains(name)
            else { continue }
            survey.fields.append(name)
        }
        guard let partitionKey, survey.partitions.count < 2 else { return }
        let text: String? =
            switch document[Text(partitionKey)] {
            case .string(let text)?: text.string
            case .objectID(let id)?: "{\"$oid\":\"\(id)\"}"
            case .binary(4, let bytes)?:
                UniqueID(bytes: bytes).map { "{\"$uuid\":\"\($0)\"}" }
            case .int32(let number)?: "{\"$numberLong\":\"\(number)\"}"
            case .int64(let number)?: "{\"$numberLong\":\"\(number)\"}"
            case .null?, nil: "null"
            default: nil
            }
        if let text, !survey.partitions.contains(text) { survey.partitions.append(text) }
    }

    private static func keyType(_ value: BSONValue?) -> PrimaryKeyType? {
        switch value {
        case .string?: .string
        case .int32?, .int64?: .int
        case .objectID?: .objectID
        case .binary(4, _)?: .uuid
        default: nil
        }
    }
}
