internal import Changesets
internal import Documents
internal import FoundationEssentials
internal import Schemas

extension RecoveredChange {
    /// Members in every version. Version 1 has only these.
    private struct Head: Decodable {
        let version: Int?
        let `class`: String
        let key: String
        let properties: [String]
        let isDeleted: Bool
        let created: Bool?
        let set: [String]?
        let add: [String: Int64]?
        let drop: [String: [String]]?
    }

    /// - Throws: an `Ingest.Refusal` if the line is not of such a file, or does not fit the realm.
    init(_ line: Ingest.Line, _ catalogue: Catalogue) throws {
        let schema = catalogue.schema
        guard let head = try? JSONDecoder().decode(Head.self, from: Data(line.bytes)),
            let members = try? JSONForm.members(of: line.bytes)
        else {
            throw Ingest.Refusal(
                .badObject,
                line: line.number,
                "the line is not one that a client reset writes",
                remedy: "give a file from `recovered/`, whole and unchanged"
            )
        }
        guard head.version ?? 1 <= 2 else {
            throw Ingest.Refusal(
                .badObject,
                line: line.number,
                "the line has version \(head.version ?? 1), which a newer agent has written",
                remedy: "use the newer realm-agent"
            )
        }
        let className = Text(head.class)
        guard let position = catalogue.position(of: className), let owner = schema[className] else {
            throw Ingest.Refusal(
                .unknownClass,
                line: line.number,
                "the realm has no class \(className) any more",
                remedy: "leave the line out"
            )
        }
        let table = catalogue[position]
        guard let column = SQLText.value(of: head.key),
            let key = try? ColumnForm.decodeKey(column, as: table.key)
        else {
            throw Ingest.Refusal(
                .badObject,
                line: line.number,
                "\(head.key) is not a key of \(className)",
                remedy: "give a file from `recovered/`, whole and unchanged"
            )
        }
        self.object = ObjectReference(className: className, key: key)
        self.key = head.key
        self.owner = owner
        let reader = Reader(owner: owner, schema: schema, members: members)
        do throws(FormError) {
            server = reader.server(isKnown: head.version ?? 1 >= 2)
            guard !head.isDeleted else {
                (kind, document) = (.delete, Document(defaultsOf: owner))
                return
            }
            document = try reader.document(needing: head.properties)
            if head.created ?? false {
                kind = .create
            } else {
                kind = .change(
                    try reader.intents(
                        set: head.version == nil ? head.properties : head.set ?? [],
                        add: head.add ?? [:],
                        drop: head.drop ?? [:]
                    )
                )
            }
        } catch {
            throw Ingest.Refusal(
                .badObject,
                line: line.number,
                "\(error.location) \(error.problem)",
                remedy: "the schema has changed since; write the object with SQL of your own"
            )
        }
    }

    /// Reads the values that a line carries.
    private struct Reader {
        let owner: ClassSchema
        let schema: RealmSchema
        let members: [Text: [UInt8]]

        private var form: JSONForm { JSONForm(schema: schema) }

        /// The whole object; properties that were removed from the schema matter only if they were
        /// changed.
        func document(needing changed: [String]) throws(FormError) -> Document {
            guard let json = members["object"] else { throw FormError(.expected(.jsonObject)) }
            var document = Document(defaultsOf: owner)
            let values = try JSONForm.members(of: json)
            for name in changed where owner.position(of: Text(name)) == nil {
                throw FormError(.unknownProperty(Text(name)))
            }
            for (name, value) in values {
                guard let position = owner.position(of: name) else { continue }
                document.values[position] =
                    try form.decode(value, of: owner.properties[position])
            }
            return document
        }

        func server(isKnown: Bool) -> Server {
            guard isKnown, let json = members["server"] else { return .unknown }
            if json.elementsEqual(Array("null".utf8)) { return .absent }
            guard let values = try? form.decodeMembers(json, of: owner).values else {
                return .unknown
            }
            return .present(values)
        }

        func intents(
            set: [String],
            add: [String: Int64],
            drop: [String: [String]]
        ) throws(FormError) -> [Int: PropertyIntent] {
            var intents: [Int: PropertyIntent] = [:]
            for name in set { intents[try position(name)] = .set }
            for (name, amount) in add { intents[try position(name)] = .add(amount) }
            for (position, value) in try values("append") {
                if case .list(let elements) = value { intents[position] = .append(elements) }
            }
            let (added, removed) = (try values("insert"), try values("remove"))
            for position in Set(added.keys).union(removed.keys) {
                intents[position] = .elements(
                    added: added[position]?.set ?? ValueSet(),
                    removed: removed[position]?.set ?? ValueSet()
                )
            }
            for (position, value) in try values("put") {
                guard case .dictionary(let members) = value else { continue }
                intents[position] = .members(put: members, dropped: [])
            }
            for (name, keys) in drop {
                let position = try position(name)
                var put: [Text: Value] = [:]
                if case .members(let members, _) = intents[position] { put = members }
                intents[position] = .members(put: put, dropped: keys.map { Text($0) })
            }
            return intents
        }

        private func values(_ member: Text) throws(FormError) -> [Int: Value] {
            guard let json = members[member] else { return [:] }
            return try form.decodeMembers(json, of: owner).values
        }

        private func position(_ name: String) throws(FormError) -> Int {
            guard let position = owner.position(of: Text(name)) else {
                throw FormError(.unknownProperty(Text(name)))
            }
            return position
        }
    }
}

extension Value {
    fileprivate var set: ValueSet? {
        guard case .set(let set) = self else { return nil }
        return set
    }
}
