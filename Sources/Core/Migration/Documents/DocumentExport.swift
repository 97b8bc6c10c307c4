package import BSON
package import Changesets
package import Documents
package import Schemas
package import Scopes

/// Turns objects into documents again (moving an app, 12).
package struct DocumentExport: Sendable {
    private let schema: RealmSchema
    /// Nil: references in Mixed name the class.
    private let map: CollectionMap?
    private let partition: CollectionMap.PartitionField?

    /// Parts of values that documents cannot have.
    package struct Losses: Hashable, Sendable {
        /// Digits of timestamps below the millisecond.
        package var digits = 0
        /// Dates beyond the range of documents.
        package var dates = 0
        /// Text that is not UTF-8, written as binary data.
        package var texts = 0

        package init() {}

        package var isEmpty: Bool { self == Losses() }
    }

    package init(_ schema: RealmSchema, map: CollectionMap?) {
        self.schema = schema
        self.map = map
        self.partition = map?.partition
    }

    /// The document of an object; `partition` is that of its realm.
    package func document(
        _ document: Document,
        key: ObjectKey,
        of owner: ClassSchema,
        in partition: Partition,
        _ losses: inout Losses
    ) -> BSONDocument {
        var result = BSONDocument()
        if let primaryKey = owner.primaryKey { result.append(primaryKey.name, value(of: key)) }
        let field = partition == .closed ? nil : self.partition?.name
        for (property, value) in zip(owner.properties, document.values)
        where property.name != field {
            result.append(property.name, self.value(value, property, &losses))
        }
        if let field { result.append(field, value(of: partition)) }
        return result
    }

    private func value(of key: ObjectKey) -> BSONValue {
        switch key {
        case .null: .null
        case .int(let value): .int64(value)
        case .string(let text): .string(text)
        case .objectID(let id): .objectID(id)
        case .uuid(let id): .binary(subtype: 4, id.bytes)
        case .globalKey(let key): .string(Text("\(key.high):\(key.low)"))
        }
    }

    private func value(of partition: Partition) -> BSONValue {
        switch partition {
        case .null: .null
        case .string(let text): .string(text)
        case .int(let value): .int64(value)
        case .objectID(let id): .objectID(id)
        case .uuid(let id): .binary(subtype: 4, id.bytes)
        }
    }

    private func value(
        _ value: Value,
        _ property: PropertySchema,
        _ losses: inout Losses
    ) -> BSONValue {
        self.value(value, property.type, &losses)
    }

    private func value(
        _ value: Value,
        _ type: PropertyType,
        _ losses: inout Losses
    ) -> BSONValue {
        switch value {
        case .scalar(let scalar): return self.scalar(scalar, type, &losses)
        case .list(let elements):
            return .array(elements.map { self.value($0, type, &losses) })
        case .set(let set):
            return .array(set.elements.map { scalar($0, type, &losses) })
        case .dictionary(let members):
            return .document(
                BSONDocument(
                    members.sorted { $0.key < $1.key }.map {
                        BSONField(name: $0.key, value: self.value($0.value, type, &losses))
                    }
                )
            )
        case .object(let document):
            guard case .link(let target) = type, let owner = schema[target] else { return .null }
            var result = BSONDocument()
            for (property, value) in zip(owner.properties, document.values) {
                result.append(property.name, self.value(value, property, &losses))
            }
            return .document(result)
        }
    }

    private func scalar(
        _ scalar: Scalar,
        _ type: PropertyType,
        _ losses: inout Losses
    ) -> BSONValue {
        switch scalar {
        case .null: return .null
        case .int(let value): return .int64(value)
        case .bool(let value): return .bool(value)
        case .string(let text):
            guard text.string != nil else {
                losses.texts += 1
                return .binary(subtype: 0, text.bytes)
            }
            return .string(text)
        case .binary(let bytes): return .binary(subtype: 0, bytes)
        case .timestamp(let timestamp): return date(timestamp, &losses)
        case .float(let value): return .double(DoubleBits(Double(value.value)))
        case .double(let value): return .double(value)
        case .decimal(let value): return .decimal(value)
        case .objectID(let id): return .objectID(id)
        case .uuid(let id): return .binary(subtype: 4, id.bytes)
        case .link(let link):
            guard case .mixed = type else { return value(of: link.key) }
            return reference(link)
        }
    }

    private func reference(_ link: ObjectReference) -> BSONValue {
        let path = map?.collection(of: link.className)
        let point = path?.firstIndex(of: ".")
        var fields = [BSONField(name: "$ref", value: .string(link.className))]
        if let path, let point {
            fields[0].value = .string(Text(path[path.index(after: point)...]))
        }
        fields.append(BSONField(name: "$id", value: value(of: link.key)))
        if let path, let point {
            fields.append(BSONField(name: "$db", value: .string(Text(path[..<point]))))
        }
        return .document(BSONDocument(fields))
    }

    /// To the millisecond below.
    private func date(_ timestamp: Timestamp, _ losses: inout Losses) -> BSONValue {
        let (product, overflow) = timestamp.seconds.multipliedReportingOverflow(by: 1000)
        let nanoseconds = Int64(timestamp.nanoseconds)
        let rest = nanoseconds % 1_000_000
        let floor = nanoseconds / 1_000_000 - (rest < 0 ? 1 : 0)
        let (sum, isBeyond) = product.addingReportingOverflow(floor)
        guard !overflow, !isBeyond else {
            losses.dates += 1
            return .date(timestamp.seconds < 0 ? .min : .max)
        }
        if rest != 0 { losses.digits += 1 }
        return .date(sum)
    }
}
