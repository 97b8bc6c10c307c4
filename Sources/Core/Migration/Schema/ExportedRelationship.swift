import BSON
import Changesets

/// A relationship of an export: a property that holds the key of another collection's document.
struct ExportedRelationship {
    /// `owner`, `box.owner`, `spots.[].nearest`.
    let path: String
    /// `DB.COLL`; nil if the reference has another form.
    let target: String?
    let foreignKey: String
    let isList: Bool

    init(path: String, _ tree: JSONTree) {
        self.path = path
        let parts = (tree["ref"]?.text ?? "").split(separator: "/").map(String.init)
        let isKnown =
            parts.count == 5 && parts[0] == "#" && ["relationship", "stitch"].contains(parts[1])
        self.target = isKnown ? "\(parts[3]).\(parts[4])" : nil
        self.foreignKey = (tree["foreign_key"] ?? tree["foreignKey"])?.text ?? "_id"
        self.isList = (tree["is_list"] ?? tree["isList"])?.bool ?? false
    }

    static func all(of file: ExportedFile?) -> [ExportedRelationship] {
        (file?.content.members ?? []).map {
            ExportedRelationship(path: $0.name.description, $0.value)
        }
    }
}
