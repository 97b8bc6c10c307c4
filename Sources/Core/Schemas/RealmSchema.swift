package import Changesets

/// All classes of a realm, in order of addition.
package struct RealmSchema: Hashable, Sendable {
    package private(set) var classes: [ClassSchema]
    private var positions: [Text: Int]

    package init() {
        self.classes = []
        self.positions = [:]
    }

    package init(_ classes: [ClassSchema]) {
        self.init()
        for schema in classes {
            update(schema)
        }
    }

    package subscript(name: Text) -> ClassSchema? {
        positions[name].map { classes[$0] }
    }

    /// Adds the class, or replaces the one of the same name in its place.
    package mutating func update(_ schema: ClassSchema) {
        if let position = positions[schema.name] {
            classes[position] = schema
        } else {
            positions[schema.name] = classes.count
            classes.append(schema)
        }
    }

    /// Changes a class in place.
    mutating func withClass<Failure: Error>(
        at position: Int,
        _ body: (inout ClassSchema) throws(Failure) -> Void
    ) throws(Failure) {
        try body(&classes[position])
    }

    package func position(of name: Text) -> Int? {
        positions[name]
    }

    package mutating func remove(_ name: Text) {
        guard let position = positions.removeValue(forKey: name) else { return }
        classes.remove(at: position)
        for index in position..<classes.count {
            positions[classes[index].name] = index
        }
    }
}
