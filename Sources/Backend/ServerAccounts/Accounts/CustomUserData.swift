import Changesets
import Documents
import JSON
import Schemas
import Scopes
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
        switch configuration.place {
        case .partition(let partition):
            guard let file = try snapshot.file(of: app, partition)?.id else { return nil }
            return try read(of: user, in: file, snapshot)
        case .anyPartition:
            guard let file = try fileWithObject(of: user, in: app, snapshot) else { return nil }
            return try read(of: user, in: file, snapshot)
        }
    }

    private func read(
        of user: UserID,
        in file: ServerFileID,
        _ snapshot: any FileReading
    ) throws(StoreError) -> JSONValue? {
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

    /// The realm with the user's object: the user's own realm if it is there, else the oldest one.
    private func fileWithObject(
        of user: UserID,
        in app: AppID,
        _ snapshot: any FileReading
    ) throws(StoreError) -> ServerFileID? {
        let own: [Partition] =
            [.string(Text(user.rawValue))]
            + (ObjectID(user.rawValue).map { [.objectID($0)] } ?? [])
        for partition in own {
            guard let file = try snapshot.file(of: app, partition)?.id,
                let owner = try snapshot.schema(of: file)[Text(configuration.className)],
                try find(user, owner, in: file, from: snapshot) != nil
            else { continue }
            return file
        }
        let className = Text(configuration.className)
        let candidates =
            configuration.userIDField == Self.usualKey
            ? try snapshot.files(of: app, withAnyOf: keys(of: user), ofClass: className)
            : try snapshot.files(of: app).map(\.id)
        for file in candidates {
            let owner = try snapshot.schema(of: file)[className]
            guard let owner, try find(user, owner, in: file, from: snapshot) != nil else {
                continue
            }
            return file
        }
        return nil
    }

    /// The primary key of the hosted service: an index finds it in all realms at once.
    private static let usualKey = "_id"

    private func keys(of user: UserID) -> [ObjectKey] {
        [.string(Text(user.rawValue))] + (ObjectID(user.rawValue).map { [.objectID($0)] } ?? [])
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
        for key in keys(of: user) {
            let object = ObjectReference(className: owner.name, key: key)
            if let json = try snapshot.document(object, in: file) { return (key, json) }
        }
        return nil
    }
}
