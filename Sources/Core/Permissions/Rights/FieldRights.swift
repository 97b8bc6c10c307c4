package import Changesets

/// The fields of a class that a role may read and write. The primary key is always readable.
package struct FieldRights: Hashable, Sendable {
    private let named: [Text: FieldPermission]
    private let others: FieldPermission

    init(named: [Text: FieldPermission], others: FieldPermission) {
        self.named = named
        self.others = others
    }

    package static let all = FieldRights(named: [:], others: .all)
    package static let nothing = FieldRights(named: [:], others: .nothing)

    package func isReadable(_ field: Text) -> Bool { (named[field] ?? others).read }
    package func isWritable(_ field: Text) -> Bool { (named[field] ?? others).write }

    /// The fields that may be read.
    package var visible: VisibleFields {
        others.read
            ? .allExcept(Set(named.filter { !$0.value.read }.keys))
            : .only(Set(named.filter { $0.value.read }.keys))
    }

    func append(to signature: inout RightsSignature) {
        signature.append("fields \(named.count)")
        for (name, permission) in named.sorted(by: { $0.key < $1.key }) {
            signature.append(name.description)
            signature.append("\(permission.read) \(permission.write)")
        }
        signature.append("\(others.read) \(others.write)")
    }
}
