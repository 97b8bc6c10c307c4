/// The form in which a server names the objects of rejected writes: one type byte, then the value
/// as in a changeset (wire protocol, 7.2).
extension ObjectKey {
    package var typedBytes: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .null:
            writer.write([UInt8(TypeCode.null.rawValue)])
        case .int(let value):
            writer.write([UInt8(TypeCode.int.rawValue)])
            writer.writeSigned(value)
        case .string(let text):
            writer.write([UInt8(TypeCode.string.rawValue)])
            writer.writeUnsigned(UInt64(text.bytes.count))
            writer.write(text.bytes)
        case .objectID(let value):
            writer.write([UInt8(TypeCode.objectID.rawValue)])
            writer.write(value.bytes)
        case .uuid(let value):
            writer.write([UInt8(TypeCode.uuid.rawValue)])
            writer.write(value.bytes)
        case .globalKey:
            // Objects without a primary key have no name that two replicas share.
            writer.write([UInt8(TypeCode.null.rawValue)])
        }
        return writer.bytes
    }

    /// Nil unless the bytes are exactly one key.
    package init?(typedBytes: [UInt8]) {
        let key: ObjectKey? = typedBytes.withUnsafeBufferPointer { bytes in
            var reader = ByteReader(bytes)
            let key = try? Self.read(from: &reader)
            return reader.isAtEnd ? key : nil
        }
        guard let key else { return nil }
        self = key
    }

    private static func read(from reader: inout ByteReader) throws(DecodeError) -> ObjectKey? {
        switch TypeCode(rawValue: Int8(bitPattern: try reader.readByte())) {
        case .null: .null
        case .int: .int(try reader.readSigned(.bits64))
        case .string:
            .string(Text(bytes: try reader.readBytes(try reader.readUnsigned(.bits64))))
        case .objectID: ObjectID(bytes: try reader.readBytes(12)).map { .objectID($0) }
        case .uuid: UniqueID(bytes: try reader.readBytes(16)).map { .uuid($0) }
        default: nil
        }
    }
}
