import Changesets
import Documents
import Schemas
import ServerStore

extension JSONForm {
    /// Decodes an object of the store.
    func decodeStored(
        _ json: [UInt8],
        of owner: ClassSchema,
        in file: ServerFileID
    ) throws(StoreError) -> Document {
        do throws(FormError) {
            return try decodeDocument(json, of: owner)
        } catch {
            throw StoreError.damagedObject(of: owner.name, in: file, error)
        }
    }
}

extension DocumentDecoder {
    /// Decodes an object of the store.
    func decodeStored(_ json: [UInt8], in file: ServerFileID) throws(StoreError) -> Document {
        do throws(FormError) {
            return try decode(json)
        } catch {
            throw StoreError.damagedObject(of: owner.name, in: file, error)
        }
    }
}
