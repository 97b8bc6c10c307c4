import BSON
import Changesets
import SchemaFiles
import Schemas

/// The custom user data of an export, if it is enabled.
struct CustomUserDataExport {
    let database: String
    let collection: String
    let field: String
    let creationFunction: String?
    let file: String

    init?(_ app: ExportedApp) {
        guard let file = app.customUserData, file.content["enabled"]?.bool == true,
            let database = file.content["database_name"]?.text,
            let collection = file.content["collection_name"]?.text,
            let field = file.content["user_id_field"]?.text,
            !database.isEmpty, !collection.isEmpty, !field.isEmpty
        else { return nil }
        self.database = database
        self.collection = collection
        self.field = field
        let function = file.content["on_user_creation_function_name"]?.text
        self.creationFunction = function.flatMap { $0.isEmpty ? nil : $0 }
        self.file = file.path
    }

    var path: String { "\(database).\(collection)" }
}

/// The custom user data of an imported app.
struct ImportedCustomUserData {
    var knowledge: KnownUserData.CustomData
    var className: String?
    /// The text of the partition with the objects; nil if they are in several, or in the one realm of flexible
    /// sync, or in one that is closed to clients.
    var partition: String?
    var field: String?
    /// Whether no client may read the class; in partition-based sync it then has a realm of its own.
    var isClosed = false
}

/// Finds the class and the partition of custom user data (moving an app, 5).
enum CustomUserDataConversion {
    static func run(
        _ app: ExportedApp,
        _ settings: SyncImportSettings,
        _ survey: CustomDataSurvey?,
        _ schema: inout ImportedSchema,
        _ findings: inout ImportFindings
    ) -> ImportedCustomUserData {
        guard let data = CustomUserDataExport(app) else {
            return ImportedCustomUserData(knowledge: .absent)
        }
        func lost(_ problem: String, _ remedy: String) -> ImportedCustomUserData {
            findings.add(
                ImportFinding(
                    .error,
                    "import.custom_user_data",
                    in: data.file,
                    data.path,
                    "\(problem); custom user data is off",
                    remedy: remedy
                )
            )
            return ImportedCustomUserData(knowledge: .lost)
        }
        if let name = data.creationFunction {
            findings.add(
                ImportFinding(
                    .warning,
                    "import.function",
                    in: app.functions[name] ?? data.file,
                    name,
                    "no function runs when a user is created",
                    remedy: "let the app write the object at its first log-in"
                )
            )
        }
        let isFlexible = settings.partition == nil
        var isClosed = false
        if schema.classes[data.path] == nil {
            guard let survey, let key = survey.keyType else {
                return lost(
                    "the collection has no schema",
                    "give --data with its documents"
                )
            }
            addClass(data, survey, key, to: &schema)
            isClosed = true
        }
        guard let name = schema.classes[data.path], let owner = schema.schema[name] else {
            return lost("its class is not imported", "see the other messages")
        }
        if owner.primaryKey?.name != Text(data.field), owner.position(of: Text(data.field)) == nil {
            var owner = owner
            owner.update(PropertySchema(name: Text(data.field), type: .string, isNullable: true))
            schema.declaration.schema.update(owner)
        }
        var partition: String?
        if !isFlexible, !isClosed {
            guard let survey else {
                return lost("the partition of its objects is not known", "give --data")
            }
            guard let first = survey.partitions.first else {
                return lost("there is no object of it", "give --data with its documents")
            }
            if survey.partitions.count == 1 { partition = first }
        }
        return ImportedCustomUserData(
            knowledge: .available(schema.schema[name]),
            className: name.description,
            partition: partition,
            field: data.field,
            isClosed: isClosed
        )
    }

    private static func addClass(
        _ data: CustomUserDataExport,
        _ survey: CustomDataSurvey,
        _ key: PrimaryKeyType,
        to schema: inout ImportedSchema
    ) {
        let name = Text(data.collection)
        var owner = ClassSchema(
            name: name,
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: key, isNullable: false))
        )
        for field in survey.fields.sorted() where field != "_id" {
            let isUser = field == data.field
            owner.update(
                PropertySchema(
                    name: Text(field),
                    type: isUser ? .string : .mixed,
                    isNullable: true
                )
            )
        }
        schema.declaration.schema.update(owner)
        schema.classes[data.path] = name
        schema.withoutClass.removeAll { $0 == data.path }
    }
}
