import Changesets
import Documents
import FoundationEssentials
import JSON
import Schemas

/// Objects in canonical Extended JSON, as clients read documents (app services, 2.2).
struct ExtendedJSONWriter {
    let schema: RealmSchema

    /// A whole object. Links are the keys of their targets.
    func object(_ document: Document, key: ObjectKey?, of owner: ClassSchema) -> JSONValue {
        var members: [String: JSONValue] = [:]
        if let key, let primaryKey = owner.primaryKey, primaryKey.type != .globalKey {
            members[primaryKey.name.description] = value(of: key)
        }
        for (property, value) in zip(owner.properties, document.values) {
            members[property.name.description] = self.value(value, property.targetClass)
        }
        return .object(members)
    }

    /// `target`: the class of the embedded objects, if there are any.
    private func value(_ value: Value, _ target: Text?) -> JSONValue {
        switch value {
        case .scalar(let scalar):
            return self.value(of: scalar)
        case .list(let elements):
            return .array(elements.map { self.value($0, target) })
        case .set(let set):
            return .array(set.elements.map { self.value(of: $0) })
        case .dictionary(let members):
            let named = members.map { ($0.key.description, self.value($0.value, target)) }
            return .object(Dictionary(named, uniquingKeysWith: { first, _ in first }))
        case .object(let document):
            guard let owner = target.flatMap({ schema[$0] }) else { return .null }
            return object(document, key: nil, of: owner)
        }
    }

    private func value(of scalar: Scalar) -> JSONValue {
        switch scalar {
        case .null: .null
        case .int(let value): .tagged("$numberLong", "\(value)")
        case .bool(let value): .bool(value)
        case .string(let value): .string(value.description)
        case .binary(let bytes): .binary(bytes, subType: "00")
        case .timestamp(let time):
            .object(["$date": .tagged("$numberLong", "\(time.millisecondsSince1970)")])
        case .float(let bits): .double(Double(bits.value))
        case .double(let bits): .double(bits.value)
        case .decimal(let value): .tagged("$numberDecimal", value.extendedJSONText)
        case .link(let target): value(of: target.key)
        case .objectID(let value): .tagged("$oid", "\(value)")
        case .uuid(let value): .binary(value.bytes, subType: "04")
        }
    }

    private func value(of key: ObjectKey) -> JSONValue {
        switch key {
        case .null: .null
        case .int(let value): .tagged("$numberLong", "\(value)")
        case .string(let value): .string(value.description)
        case .objectID(let value): .tagged("$oid", "\(value)")
        case .uuid(let value): .binary(value.bytes, subType: "04")
        // Objects without a primary key have no name outside their realm.
        case .globalKey: .null
        }
    }
}

extension JSONValue {
    fileprivate static func tagged(_ tag: String, _ text: String) -> JSONValue {
        .object([tag: .string(text)])
    }

    fileprivate static func double(_ value: Double) -> JSONValue {
        let text =
            switch (value.isNaN, value.isInfinite) {
            case (true, _): "NaN"
            case (_, true): value < 0 ? "-Infinity" : "Infinity"
            default: "\(value)"
            }
        return tagged("$numberDouble", text)
    }

    fileprivate static func binary(
        _ bytes: some Sequence<UInt8>,
        subType: String
    ) -> JSONValue {
        .object([
            "$binary": .object([
                "base64": .string(Data(bytes).base64EncodedString()), "subType": .string(subType),
            ])
        ])
    }
}

extension Timestamp {
    /// A date holds neither finer fractions nor more distant times.
    fileprivate var millisecondsSince1970: Int64 {
        let (whole, isTooFar) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, isTooFarStill) = whole.addingReportingOverflow(Int64(nanoseconds) / 1_000_000)
        guard !isTooFar, !isTooFarStill else { return seconds < 0 ? .min : .max }
        return sum
    }
}

extension PropertySchema {
    /// The class of a link's target or of an embedded object.
    fileprivate var targetClass: Text? {
        guard case .link(let target) = type else { return nil }
        return target
    }
}
