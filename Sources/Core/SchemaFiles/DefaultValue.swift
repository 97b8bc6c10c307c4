import Changesets
import Documents
import FoundationEssentials
import Schemas
import Settings
import YAML

/// The default of a property: read by its type, and written so that it reads the same.
enum DefaultValue {
    static func read(_ reader: NodeReader, of type: PropertyTypeText) -> Scalar? {
        guard type.collection == .single, let scalarType = type.type.scalarType else {
            reader.report(
                .badDefault,
                "\(type) cannot have a default",
                remedy: "remove \"default\""
            )
            return nil
        }
        if reader.node.isNull, type.isNullable { return nil }
        switch scalarType {
        case .int: return reader.integer().map { .int(Int64($0)) }
        case .bool: return reader.bool().map { .bool($0) }
        case .string: return reader.string(allowsEmpty: true).map { .string(Text($0)) }
        case .float, .double: return readFloatingPoint(reader, scalarType)
        case .binary: return readBinary(reader)
        case .timestamp, .decimal, .objectID, .uuid: return readText(reader, scalarType)
        }
    }

    static func text(of value: Scalar) -> String {
        switch value {
        case .int(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let value): YAMLText.quoted(value.description)
        case .binary(let value): YAMLText.quoted(Data(value).base64EncodedString())
        case .float(let value): text(of: value.value, exactly: ColumnForm.encode(.float(value)))
        case .double(let value): text(of: value.value, exactly: ColumnForm.encode(.double(value)))
        case .timestamp, .decimal, .objectID, .uuid: text(of: ColumnForm.encode(value))
        case .null, .link: "null"
        }
    }

    // MARK: Reading

    private static func readFloatingPoint(_ reader: NodeReader, _ type: ScalarType) -> Scalar? {
        guard let text = reader.string() else { return nil }
        let number = Double(text).flatMap { $0.isNaN ? nil : $0 }
        let column = number.map { ColumnValue.real($0) } ?? .text(text)
        return decode(column, type, reader)
    }

    private static func readBinary(_ reader: NodeReader) -> Scalar? {
        guard case .scalar(let scalar) = reader.node.content, !reader.node.isNull,
            let bytes = Data(base64Encoded: scalar.text)
        else {
            reader.report(.badDefault, "is not base64", remedy: "give the bytes in base64")
            return nil
        }
        return decode(.blob(Array(bytes)), .binary, reader)
    }

    private static func readText(_ reader: NodeReader, _ type: ScalarType) -> Scalar? {
        reader.string().flatMap { decode(.text($0), type, reader) }
    }

    private static func decode(
        _ column: ColumnValue,
        _ type: ScalarType,
        _ reader: NodeReader
    ) -> Scalar? {
        do {
            return try ColumnForm.decode(column, as: type)
        } catch {
            reader.report(.badDefault, "\(error)", remedy: "correct or remove it")
            return nil
        }
    }

    // MARK: Writing

    private static func text(of column: ColumnValue) -> String {
        guard case .text(let bytes) = column else { return "null" }
        return YAMLText.scalar(String(decoding: bytes, as: UTF8.self))
    }

    private static func text(
        of value: some BinaryFloatingPoint & LosslessStringConvertible,
        exactly column: ColumnValue
    ) -> String {
        value.isNaN ? text(of: column) : value.description
    }
}

extension PropertyType {
    fileprivate var scalarType: ScalarType? {
        switch self {
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .objectID: .objectID
        case .uuid: .uuid
        case .mixed, .link: nil
        }
    }
}
