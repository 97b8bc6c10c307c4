package import Changesets

extension RandomTransactions {
    /// The classes and properties that random transactions start from: one property for each way in
    /// which a merge treats values.
    package static var baseChangeset: Changeset {
        get throws {
            var writer = ChangesetWriter()
            for name in ["Thing", "Tag"] as [Text] {
                writer.addTopLevelClass(name, primaryKey: "_id", type: .int, isNullable: false)
            }
            writer.addEmbeddedClass("Part")
            for column in things { column.add(to: "Thing", &writer) }
            for column in tags { column.add(to: "Tag", &writer) }
            for column in parts { column.add(to: "Part", &writer) }
            return try Changeset(decoding: writer.bytes)
        }
    }

    private static let things = [
        Column("i", .int),
        Column("n", .int, isNullable: true),
        Column("s", .string, isNullable: true),
        Column("d", .double),
        Column("x", .null, isNullable: true),
        Column("k", .link, isNullable: true, target: "Tag"),
        Column("li", .int, .list),
        Column("ls", .string, .list, isNullable: true),
        Column("lk", .link, .list, target: "Thing"),
        Column("lx", .null, .list, isNullable: true),
        Column("si", .int, .set),
        Column("ss", .string, .set),
        Column("sk", .link, .set, target: "Tag"),
        Column("di", .int, .dictionary),
        Column("dx", .null, .dictionary, isNullable: true),
        Column("e", .link, isNullable: true, target: "Part"),
        Column("le", .link, .list, target: "Part"),
        Column("de", .link, .dictionary, isNullable: true, target: "Part"),
    ]

    private static let tags = [
        Column("name", .string),
        Column("things", .link, .dictionary, isNullable: true, target: "Thing"),
    ]

    private static let parts = [
        Column("i", .int),
        Column("x", .null, isNullable: true),
        Column("l", .int, .list),
        Column("e", .link, isNullable: true, target: "Part"),
    ]

    private struct Column {
        let name: Text
        let type: TypeCode
        let collection: CollectionType
        let isNullable: Bool
        let target: Text?

        init(
            _ name: Text,
            _ type: TypeCode,
            _ collection: CollectionType = .single,
            isNullable: Bool = false,
            target: Text? = nil
        ) {
            self.name = name
            self.type = type
            self.collection = collection
            self.isNullable = isNullable
            self.target = target
        }

        func add(to className: Text, _ writer: inout ChangesetWriter) {
            writer.addColumn(
                name,
                to: className,
                type: type,
                isNullable: isNullable,
                collection: collection,
                linkTarget: target
            )
        }
    }
}
