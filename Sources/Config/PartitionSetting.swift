package import Scopes
import Settings
import YAML

/// The partition of a realm; known in part before its user logs in.
package enum PartitionSetting: Hashable, Sendable {
    case fixed(Partition)
    /// Contains the user's id.
    case ofUser(Partition.Kind, UserTemplate)

    /// The partition of a user with this id.
    package func value(userID: String) throws(PartitionError) -> Partition {
        switch self {
        case .fixed(let value):
            return value
        case .ofUser(let kind, let template):
            let text = template.text(userID: userID)
            guard let value = Partition(text, kind: kind) else {
                throw PartitionError(text: text, kind: kind)
            }
            return value
        }
    }
}

/// A partition that turned out not to be of its type once the user's id was filled in.
package struct PartitionError: Error, Hashable, Sendable, CustomStringConvertible {
    package let text: String
    package let kind: Partition.Kind

    package var description: String {
        "the partition \(quoted(text)) is not \(kind.expected)"
    }
}

extension PartitionSetting {
    private static let forms =
        "{ string: … }, { int: … }, { object_id: … }, { uuid: … } or null"

    /// `null`, or one of `{ string: … }`, `{ int: … }`, `{ object_id: … }`, `{ uuid: … }`.
    static func read(_ reader: NodeReader, templates: TemplateReader) -> PartitionSetting? {
        reader.either(scalar: readScalar) { reader in
            reader.mapping(expected: forms) { keys in
                keys.exactlyOne(
                    of: Partition.Kind.allCases.map(\.rawValue),
                    remedy: "give \(forms)"
                ) { readValue($1, kind: Partition.Kind(rawValue: $0), templates) }
            }
        }
    }

    /// Left empty it may as well be forgotten: the null partition is asked for by its name.
    private static func readScalar(_ reader: NodeReader) -> PartitionSetting? {
        reader.describe(.null)
        guard case .scalar(let scalar) = reader.node.content else { return nil }
        if reader.node.isNull, !scalar.text.isEmpty { return .fixed(.null) }
        reader.report(
            .wrongType,
            scalar.text.isEmpty
                ? "is empty" : "\(quoted(scalar.text)) does not tell the type of the partition",
            remedy: "give \(forms)"
        )
        return nil
    }

    private static func readValue(
        _ reader: NodeReader,
        kind: Partition.Kind?,
        _ templates: TemplateReader
    ) -> PartitionSetting? {
        guard let kind, let text = reader.string(allowsEmpty: kind == .string),
            let template = templates.resolve(text, at: reader)
        else { return nil }
        guard let fixed = template.fixedText else { return .ofUser(kind, template) }
        guard let partition = Partition(fixed, kind: kind) else {
            reader.report(
                .badValue,
                "\(quoted(fixed)) is malformed",
                remedy: "give \(kind.expected)"
            )
            return nil
        }
        return .fixed(partition)
    }
}
