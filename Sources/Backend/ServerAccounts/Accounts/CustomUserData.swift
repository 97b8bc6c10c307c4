import Changesets
import Documents
import JSON
import Schemas
import ServerConfig
import ServerStore

/// Finds a user's own object, as canonical Extended JSON (app services, 10.5).
struct CustomUserData {
    let configuration: CustomUserDataConfiguration

    /// The token that carries it is part of a URL.
    static let maximumSizeInBytes = 4 << 10

    /// Nil if there is no such realm, class, property or object.
    func read(
        of user: UserID,
        in app: AppID,
        from snapshot: any FileReading
    ) throws(StoreError) -> JSONValue? {
        guard let file = try snapshot.file(of: app, configuration.partition)?.id else { return nil }
        let schema = try snapshot.schema(of: file)
        guard let owner = schema[Text(configuration.className)], !owner.isEmbedded,
            let (key, json) = try find(user, owner, in: file, from: snapshot)
        else { return nil }
        do throws(FormError) {
            let document = try JSONForm(schema: schema).decodeDocument(json, of: owner)
            return ExtendedJSONWriter(schema: schema).object(document, key: key, of: owner)
        } catch {
            throw StoreError.damagedObject(of: owner.name, in: file, error)
        }
    }

    /// By its primary key at once; by any other property, by reading the class.
    private func find(
        _ user: UserID,
        _ owner: ClassSchema,
        in file: ServerFileID,
        from snapshot: any FileReading
    ) throws(StoreError) -> (ObjectKey, [UInt8])? {
        let field = Text(configuration.userIDField)
        let id = Text(user.rawValue)
        guard owner.primaryKey?.name == field else {
            return try snapshot.document(of: owner.name, whose: field, is: id, in: file)
        }
        let keys: [ObjectKey] =
            [.string(id)] + (ObjectID(user.rawValue).map { [.objectID($0)] } ?? [])
        for key in keys {
            let object = ObjectReference(className: owner.name, key: key)
            if let json = try snapshot.document(object, in: file) { return (key, json) }
        }
        return nil
    }
}
