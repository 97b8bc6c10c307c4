import Changesets
package import Schemas

/// Random schemas, values and SQL scripts, all from one seed.
package struct RandomWorld {
    package var random: SplitMix64
    package let schema: RealmSchema
    let nestsCollections: Bool

    /// The features that schemas may use.
    package enum Model: Sendable {
        /// Scalars and links.
        case scalars
        /// Collections, embedded objects and Mixed, too.
        case whole
        /// The whole model but for what replicas are known not to agree on (merge rules, 8):
        /// dictionaries of embedded objects (E-DICT), and collections inside Mixed (N-CLEAR, M-PASS).
        case convergent
    }

    package init(seed: UInt64, _ model: Model = .scalars) {
        var random = SplitMix64(seed: seed)
        schema =
            switch model {
            case .scalars: Self.schema(&random)
            case .whole: Self.wholeSchema(&random)
            case .convergent: Self.wholeSchema(&random, embedsInDictionaries: false)
            }
        self.random = random
        nestsCollections = model == .whole
    }

    static let types: [PropertyType] = [
        .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .objectID, .uuid,
    ]

    private static func schema(_ random: inout SplitMix64) -> RealmSchema {
        let names = ["Apple", "Berry", "Cherry"].prefix(Int.random(in: 1...3, using: &random))
        let keyTypes: [PrimaryKeyType] = [.int, .string, .objectID, .uuid]
        return RealmSchema(
            names.map { name in
                let key = PrimaryKeySchema(
                    name: "_id",
                    type: keyTypes[Int.random(in: 0..<4, using: &random)],
                    isNullable: Bool.random(using: &random)
                )
                let properties = (0..<Int.random(in: 1...5, using: &random)).map { number in
                    let isLink = Int.random(in: 0..<4, using: &random) == 0
                    return PropertySchema(
                        name: Text("p\(number)"),
                        type: isLink
                            ? .link(target: Text(names.randomElement(using: &random) ?? name))
                            : types[Int.random(in: 0..<types.count, using: &random)],
                        isNullable: isLink || Bool.random(using: &random)
                    )
                }
                return ClassSchema(name: Text(name), kind: .topLevel(key), properties: properties)
            }
        )
    }

    package mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    package mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: 0..<choices.count, using: &random)]
    }
}

// MARK: Values, as SQL literals

extension RandomWorld {
    /// Few enough that scripts meet the same objects again.
    package mutating func key(of owner: ClassSchema) -> String {
        guard let key = owner.primaryKey else { return "NULL" }
        if key.isNullable, chance(15) { return "NULL" }
        let number = Int.random(in: 1...4, using: &random)
        return switch key.type {
        case .int: "\(number)"
        case .string: "'k\(number)'"
        case .objectID: "'5f63e882536d46e47187790\(number)'"
        case .uuid, .globalKey: "'3b241101-e2bb-4255-8caf-4136c566a96\(number)'"
        }
    }

    package mutating func value(of property: PropertySchema) -> String {
        if isJSON(property) { return jsonLiteral(of: property) }
        if property.isNullable, chance(20) { return "NULL" }
        switch property.type {
        case .int: return pick(["0", "1", "-1", "9223372036854775807", "-9223372036854775808"])
        case .bool: return pick(["0", "1"])
        case .string: return pick(["''", "'a'", "'b'", "'a b'", "'zürich'", "'it''s'"])
        case .binary: return pick(["x''", "x'00'", "x'ff00'"])
        case .timestamp:
            return pick([
                "'1970-01-01'", "'2026-03-04 05:06:07'", "'2026-03-04T05:06:07.123456789Z'",
                "'1969-12-31T23:59:59.5+01:00'", "'@-62167219201.0'", "'@253402300800.5'",
            ])
        case .float: return pick(["0.0", "1.5", "0.1", "7", "9e999", "'NaN'", "'NaN:7fc00001'"])
        case .double:
            return pick(["0.0", "-1.5", "1e300", "3", "-9e999", "'NaN'", "'NaN:7ff8000000000001'"])
        case .decimal: return pick(["'0'", "'1.0'", "'1.00'", "'-1E+10'", "'NaN'", "12", "'+3'"])
        case .objectID: return pick(["'5f63e882536d46e471877999'", "'000000000000000000000000'"])
        case .uuid: return "'00000000-0000-4000-8000-00000000000\(pick([0, 1, 2]))'"
        case .link(let target):
            guard let owner = schema[target] else { return "NULL" }
            let key = key(of: owner)
            return key == "NULL" ? "x''" : key
        case .mixed: return "NULL"
        }
    }
}

// MARK: Statements

extension RandomWorld {
    /// One statement, which may well fail.
    package mutating func statement() -> String {
        let owner = pick(schema.classes)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3: return insert(into: owner, pick(["INSERT", "INSERT OR IGNORE"]))
        case 4...5: return insert(into: owner, "INSERT OR REPLACE")
        case 6: return upsert(into: owner)
        case 7: return "DELETE FROM \(owner.name) WHERE _id IS \(key(of: owner))"
        case 8: return chance(20) ? "DELETE FROM \(owner.name)" : update(owner)
        default: return update(owner)
        }
    }

    /// One statement that deletes nothing.
    package mutating func statementThatKeepsObjects() -> String {
        let owner = pick(schema.classes)
        return switch Int.random(in: 0..<8, using: &random) {
        case 0...2: insert(into: owner, pick(["INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE"]))
        case 3: upsert(into: owner)
        default: update(owner)
        }
    }

    /// A transaction of some statements, which may be rolled back in part or whole.
    package mutating func transaction() -> [String] {
        var statements = ["BEGIN IMMEDIATE"]
        if chance(10) { statements.insert("PRAGMA recursive_triggers = \(pick([0, 1]))", at: 0) }
        for _ in 0..<Int.random(in: 1...4, using: &random) { statements.append(statement()) }
        if chance(20) {
            statements += ["SAVEPOINT s", statement(), "ROLLBACK TO s", statement()]
        }
        statements.append(chance(10) ? "ROLLBACK" : "COMMIT")
        return statements
    }

    private mutating func insert(into owner: ClassSchema, _ verb: String) -> String {
        let given = owner.properties.filter { _ in chance(60) }
        let columns = (["_id"] + given.map { "\($0.name)" }).joined(separator: ", ")
        let rows = (0..<pick([1, 1, 2])).map { _ in
            let values = [key(of: owner)] + given.map { value(of: $0) }
            return "(\(values.joined(separator: ", ")))"
        }
        return "\(verb) INTO \(owner.name)(\(columns)) VALUES \(rows.joined(separator: ", "))"
    }

    private mutating func upsert(into owner: ClassSchema) -> String {
        let property = pick(owner.properties)
        return """
            \(insert(into: owner, "INSERT")) ON CONFLICT(_id) DO UPDATE SET \
            \(property.name) = \(value(of: property))
            """
    }

    private mutating func update(_ owner: ClassSchema) -> String {
        let changed = owner.properties.filter { _ in chance(50) }
        let assignments = changed.map { "\($0.name) = \(value(of: $0))" }
        let whole = owner.properties.map { "\($0.name) = \($0.name)" }
        let list = (assignments.isEmpty ? whole : assignments).joined(separator: ", ")
        let condition = chance(25) ? "" : " WHERE _id IS \(key(of: owner))"
        return "UPDATE \(owner.name) SET \(list)\(condition)"
    }
}
