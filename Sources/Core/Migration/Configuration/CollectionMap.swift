package import Changesets
package import Scopes
import Settings
import YAML

/// The collections of a hosted app and their classes: `APP.map.yaml`, written by `import app` and read
/// by the commands that move data (moving an app, 1).
package struct CollectionMap: Hashable, Sendable {
    package var app: String
    /// The field that holds an object's partition; nil in flexible sync.
    package var partition: PartitionField?
    /// The class of each collection, by `DB.COLL`.
    package var classes: [String: Text]
    /// Classes in a realm that no client opens; their partition field does not count.
    package var closed: Set<Text> = []

    package struct PartitionField: Hashable, Sendable {
        package var name: Text
        package var type: Partition.Kind
        /// Whether hosted ignored documents without the field.
        package var isRequired: Bool

        package init(name: Text, type: Partition.Kind, isRequired: Bool) {
            self.name = name
            self.type = type
            self.isRequired = isRequired
        }
    }

    package init(
        app: String,
        partition: PartitionField?,
        classes: [String: Text],
        closed: Set<Text> = []
    ) {
        self.closed = closed
        self.app = app
        self.partition = partition
        self.classes = classes
    }

    /// The class of a collection; without a database the only collection of that name counts.
    package func className(database: String?, collection: String) -> Text? {
        if let database { return classes["\(database).\(collection)"] }
        let found = classes.filter {
            $0.key.hasSuffix(".\(collection)")
                && $0.key.drop { $0 != "." }.dropFirst() == collection
        }
        return found.count == 1 ? found.first?.value : nil
    }

    /// `DB.COLL` of a class.
    package func collection(of className: Text) -> String? {
        classes.filter { $0.value == className }.keys.min()
    }
}

extension CollectionMap {
    package var text: String {
        var text = ConfigurationText()
        text.line(
            "# The collections of the hosted app and their classes, for import data and export."
        )
        text.line(
            "# Not a part of the server's configuration: leave it out of /etc/realm-server.d."
        )
        text.line("app: \(ConfigurationText.quoted(app))")
        if let partition {
            text.section("partition") { text in
                text.line("key: \(ConfigurationText.quoted(partition.name.description))")
                text.line("type: \(partition.type.rawValue)")
                text.line("required: \(partition.isRequired)")
            }
        }
        text.section("collections") { text in
            for (path, name) in classes.sorted(by: { $0.key < $1.key }) {
                text.line(
                    "\(ConfigurationText.quoted(path)): "
                        + ConfigurationText.quoted(name.description)
                )
            }
        }
        if !closed.isEmpty {
            let names = closed.sorted().map(\.description)
            text.line("closed: \(ConfigurationText.list(names))")
        }
        return text.text
    }

    /// Reads the form of `text`; the diagnostics are empty unless the map is nil.
    package static func parse(
        _ bytes: [UInt8],
        file: String
    ) -> (map: CollectionMap?, problems: [String]) {
        let diagnostics = DiagnosticCollector()
        let map = diagnostics.parse(bytes, file: file).flatMap { node -> CollectionMap? in
            NodeReader(node, diagnostics: diagnostics).mapping { keys in
                let app = keys.required("app") { $0.string() }
                let partition = keys.optional("partition") { node in
                    node.mapping { keys -> PartitionField? in
                        let name = keys.required("key") { $0.string() }
                        let type: Partition.Kind? = keys.required("type") { $0.choice() }
                        let isRequired = keys.optional("required", default: false) { $0.bool() }
                        guard let name, let type else { return nil }
                        return PartitionField(
                            name: Text(name),
                            type: type,
                            isRequired: isRequired
                        )
                    }
                }
                let classes = keys.required("collections") { node in
                    node.entries { entry in entry.value.string().map { (entry.name, Text($0)) } }
                }
                let closed = keys.optional("closed", default: []) { $0.strings() }
                guard let app, let classes else { return nil }
                return CollectionMap(
                    app: app,
                    partition: partition,
                    classes: Dictionary(classes.compactMap(\.self)) { $1 },
                    closed: Set(closed.map { Text($0) })
                )
            }
        }
        let problems = diagnostics.diagnostics.map(\.description)
        return (diagnostics.hasErrors ? nil : map, problems)
    }
}
