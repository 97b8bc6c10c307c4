import Changesets
import Schemas
import ServerStore

/// The first byte selects the column of the server's store that has the rest.
enum ServerRecordInput {
    static func run(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let first = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        switch first % 4 {
        case 0:
            guard let key = StoredKey.decode(rest) else { return }
            claims.check(StoredKey.decode(StoredKey.encode(key)) == key, "a key has two forms")
        case 1:
            guard let schema = StoredSchema.decode(rest) else { return }
            // Not the same value: links and Mixed are stored with their actual nullability.
            let stored = StoredSchema.encode(schema)
            let again = StoredSchema.decode(stored).map(StoredSchema.encode)
            claims.check(again == stored, "a schema has two forms")
        case 2:
            let text = String(decoding: rest, as: UTF8.self)
            guard let data = StoredData.decode(text) else { return }
            let again = StoredData.decode(StoredData.encode(data))
            claims.check(again != nil, "a profile cannot be read again")
        default:
            let code = rest.first.map { Int64(Int8(bitPattern: $0)) } ?? 0
            let image = Array(rest.dropFirst().prefix(40))
            let newImage = rest.count > 41 ? Array(rest.dropFirst(41)) : nil
            let change = TouchedObject.Change(code: code, image: image, newImage: newImage)
            guard let change else { return }
            claims.check(change.stored.code == code, "a change has another code")
        }
    }
}
