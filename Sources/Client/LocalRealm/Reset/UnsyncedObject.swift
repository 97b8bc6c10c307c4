package import Changesets
internal import Documents
internal import FoundationEssentials
internal import Schemas

/// An object with changes that the server has not acknowledged, and its current state.
package struct UnsyncedObject: Hashable, Sendable {
    package let className: Text
    /// The primary key as an SQL literal.
    package let key: String
    /// Names of changed properties; empty if the object as a whole was created or deleted.
    package let properties: [Text]
    /// It no longer exists.
    package let isDeleted: Bool
    /// The object as one JSON document; nil if it is deleted.
    package let document: [UInt8]?
    /// A statement that applies the changes again, on any copy of the realm.
    package let sql: String
    /// Members of the line that list the changes of each property, as JSON.
    let changes: [Member]

    struct Member: Hashable {
        let name: String
        let json: [UInt8]
    }
}

extension UnsyncedObject {
    /// The effect of changesets on an object.
    struct Changes {
        /// Nothing of an earlier object with this key remains.
        var isCreated: Bool
        /// Nil for all properties of its class.
        var properties: [Text: UnsyncedPropertyChange]?
    }

    /// - Parameters:
    ///   - document: the current object; nil if it no longer exists.
    ///   - server: the object on the server; nil if it does not exist there.
    init(
        _ object: ObjectReference,
        _ changes: Changes,
        _ document: Document?,
        _ catalogue: Catalogue,
        server: Document?,
        _ serverSchema: RealmSchema
    ) {
        let schema = catalogue.schema
        className = object.className
        key = SQLText.literal(ColumnForm.encodeKey(object.key))
        let all = schema[object.className]?.properties.map(\.name) ?? []
        let properties =
            changes.properties ?? Dictionary(uniqueKeysWithValues: all.map { ($0, .set) })
        self.properties = properties.keys.sorted()
        isDeleted = document == nil
        guard let owner = schema[object.className],
            let position = catalogue.position(of: object.className)
        else {
            (self.document, sql, self.changes) = (nil, "", [])
            return
        }
        self.document = document.map {
            JSONForm(schema: schema).encode($0, key: object.key, of: owner)
        }
        let writer = ChangeWriter(owner: owner, schema: schema)
        let names = document == nil || changes.isCreated ? Set(all) : Set(properties.keys)
        var members = [Member(name: "created", json: Array("\(changes.isCreated)".utf8))]
        if let document { members += writer.members(properties, document) }
        members.append(writer.server(server, names, serverSchema))
        self.changes = members
        sql = UnsyncedStatement(table: catalogue[position], owner: owner, schema: schema)
            .statement(making: properties, in: document, key: key)
    }

    /// The line of a file in `recovered/`.
    package var line: [UInt8] {
        get throws {
            struct Head: Encodable {
                let version = 2
                let `class`: String
                let key: String
                let properties: [String]
                let isDeleted: Bool
                let sql: String
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let head = Head(
                class: className.description,
                key: key,
                properties: properties.map(\.description),
                isDeleted: isDeleted,
                sql: sql
            )
            // The rest is already JSON, and stays as in the realm.
            var line = Array(try encoder.encode(head).dropLast())
            let document = Member(name: "object", json: document ?? Array("null".utf8))
            for member in changes + [document] {
                line += Array(",\"\(member.name)\":".utf8) + member.json
            }
            return line + Array("}\n".utf8)
        }
    }
}

/// Writes the changes of each property of an object, with the values they need.
private struct ChangeWriter {
    let owner: ClassSchema
    let schema: RealmSchema

    func members(
        _ changes: [Text: UnsyncedPropertyChange],
        _ document: Document
    ) -> [UnsyncedObject.Member] {
        var sets: [Text] = []
        var amounts: [Text: Int64] = [:]
        var dropped: [Text: [Text]] = [:]
        var (appended, added, removed, put) =
            ([Int: Value](), [Int: Value](), [Int: Value](), [Int: Value]())
        for (name, change) in changes {
            guard let position = owner.position(of: name) else { continue }
            switch (change, document.values[position]) {
            case (.add(let amount), _): amounts[name] = amount
            case (.append(let start), .list(let elements)) where start <= elements.count:
                appended[position] = .list(Array(elements[start...]))
            case (.elements(let plus, let minus), _):
                if !plus.isEmpty { added[position] = .set(plus) }
                if !minus.isEmpty { removed[position] = .set(minus) }
            case (.members(let keys), .dictionary(let members)):
                let kept = members.filter { keys.contains($0.key) }
                if !kept.isEmpty { put[position] = .dictionary(kept) }
                let gone = keys.filter { members[$0] == nil }
                if !gone.isEmpty { dropped[name] = gone.sorted() }
            case (.set, _), (.append, _), (.members, _): sets.append(name)
            }
        }
        let form = JSONForm(schema: schema)
        let objects = [("append", appended), ("insert", added), ("remove", removed), ("put", put)]
        return [
            .init(name: "set", json: names(sets.sorted())),
            .init(name: "add", json: object(amounts) { Array("\($0)".utf8) }),
            .init(name: "drop", json: object(dropped, names)),
        ].filter { $0.json.count > 2 }
            + objects.filter { !$0.1.isEmpty }.map { name, values in
                .init(name: name, json: form.encodeMembers(values, of: owner))
            }
    }

    /// The named properties on the server: a later difference is a conflict.
    func server(
        _ document: Document?,
        _ names: Set<Text>,
        _ schema: RealmSchema
    ) -> UnsyncedObject.Member {
        guard let document, let owner = schema[owner.name] else {
            return .init(name: "server", json: Array("null".utf8))
        }
        var values: [Int: Value] = [:]
        for (position, property) in owner.properties.enumerated()
        where names.contains(property.name) {
            values[position] = document.values[position]
        }
        let json = JSONForm(schema: schema).encodeMembers(values, of: owner)
        return .init(name: "server", json: json)
    }

    private func names(_ names: [Text]) -> [UInt8] {
        Array("[".utf8) + names.map(string).joined(separator: [UInt8(ascii: ",")])
            + Array("]".utf8)
    }

    private func object<Value>(_ members: [Text: Value], _ json: (Value) -> [UInt8]) -> [UInt8] {
        let texts = members.sorted { $0.key < $1.key }
            .map { string($0.key) + Array(":".utf8) + json($0.value) }
        return Array("{".utf8) + texts.joined(separator: [UInt8(ascii: ",")]) + Array("}".utf8)
    }

    private func string(_ text: Text) -> [UInt8] { JSONForm.string(text) }
}
