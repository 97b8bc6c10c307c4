package import Changesets
import Documents
package import Migration
package import SchemaFiles
import Schemas
import Scopes
package import ServerStore

/// The app that data is moved to or from: its schema, and the classes of the collections.
package struct ImportTarget: Sendable {
    package let app: AppID
    package let map: CollectionMap
    package let declaration: SchemaDeclaration
    let form: JSONForm
    /// Whether a property of a class can be queried; nil in partition-based sync.
    let isQueryable: (@Sendable (Text, Text) -> Bool)?
    private let conversions: [Text: ClassConversion]

    /// Throws if map and configuration contradict each other.
    package init(
        app: AppID,
        map: CollectionMap,
        declaration: SchemaDeclaration,
        isQueryable: (@Sendable (Text, Text) -> Bool)?,
        isStrict: Bool = false
    ) throws(MigrationFailure) {
        guard map.app == app.rawValue else {
            throw MigrationFailure(
                "import.map",
                "the map is for app \(map.app)",
                remedy: "name the map that import app wrote for \(app)"
            )
        }
        guard (isQueryable != nil) == (map.partition == nil) else {
            throw MigrationFailure(
                "import.map",
                "the map is for \(map.partition == nil ? "flexible" : "partition-based") sync, the "
                    + "configuration is not",
                remedy: "import the app again, or correct sync.mode"
            )
        }
        var conversions: [Text: ClassConversion] = [:]
        let view = SchemaDeclarationView(declaration)
        for name in Set(map.classes.values) {
            guard let conversion = ClassConversion(of: name, view, map: map, isStrict: isStrict)
            else {
                throw MigrationFailure(
                    "import.map",
                    "the schema of \(app) has no class \(name) with objects of its own",
                    remedy: "correct the map, or the app's schema file"
                )
            }
            conversions[name] = conversion
        }
        self.app = app
        self.map = map
        self.declaration = declaration
        self.isQueryable = isQueryable
        self.form = JSONForm(schema: declaration.schema)
        self.conversions = conversions
    }

    /// The conversion of a collection's documents; nil if it has no class.
    func conversion(of collection: SourceCollection) -> ClassConversion? {
        var name = map.className(database: collection.database, collection: collection.name)
        // A file may be named for database and collection, and a folder need not be a database.
        if name == nil { name = map.classes[collection.name] }
        if name == nil,
            collection.database.map({ database in
                !map.classes.keys.contains { $0.hasPrefix("\(database).") }
            }) ?? false
        {
            name = map.className(database: nil, collection: collection.name)
        }
        return name.flatMap { conversions[$0] }
    }

    /// The realm of an object.
    func partition(of object: ImportedObject) -> Partition { object.partition ?? .flexible }

    /// A partition in a report.
    static func text(of partition: Partition?) -> String {
        switch partition {
        case nil: "None"
        case .null?: "null"
        case .string(let text)?: text.description
        case .int(let number)?: "\(number)"
        case .objectID(let id)?: "oid:\(id)"
        case .uuid(let id)?: "uuid:\(id)"
        }
    }
}
