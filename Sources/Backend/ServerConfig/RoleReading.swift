import Changesets
import Permissions
import Query
import Schemas
import Settings

/// A role of a configuration, with the positions of its keys.
struct RoleReading {
    let declaration: RoleDeclaration
    let node: NodeReader
    private let nodes: [RoleProblem.Key: NodeReader]

    func node(of key: RoleProblem.Key) -> NodeReader { nodes[key] ?? node }

    /// - Parameter name: of a role that needs none, as it is the only one.
    init?(reading keys: MappingReader, name: String? = nil) {
        var nodes: [RoleProblem.Key: NodeReader] = [:]
        func permission(_ key: RoleProblem.Key, _ name: String, _ keys: MappingReader)
            -> RolePermission?
        {
            keys.optional(name) { node in
                nodes[key] = node
                return node.rolePermission()
            }
        }
        let given = name.map { name in keys.optional("name", default: name) { $0.string() } }
        let required = given ?? keys.required("name") { $0.string() }
        let applyWhen = keys.optional("apply_when") { node -> String? in
            nodes[.applyWhen] = node
            return node.string()
        }
        let filters = keys.section("document_filters") { filters in
            (
                permission(.readFilter, "read", filters), permission(.writeFilter, "write", filters)
            )
        }
        let read = permission(.read, "read", keys)
        let write = permission(.write, "write", keys)
        let insert = permission(.insert, "insert", keys)
        let delete = permission(.delete, "delete", keys)
        let fields = keys.optional("fields", default: [:]) { node -> [Text: FieldPermission]? in
            nodes[.fields] = node
            return node.fieldPermissions()
        }
        let others = keys.optional("additional_fields") { $0.fieldPermission() }
        guard let required else { return nil }
        self.declaration = RoleDeclaration(
            name: required,
            applyWhen: applyWhen,
            readFilter: filters.0,
            writeFilter: filters.1,
            read: read,
            write: write,
            insert: insert,
            delete: delete,
            fields: fields,
            additionalFields: others
        )
        self.node = keys.whole
        self.nodes = nodes
    }
}

extension NodeReader {
    /// `true`, `false` or a filter.
    fileprivate func rolePermission() -> RolePermission? {
        describe(.boolean)
        guard let text = string() else { return nil }
        return switch text.lowercased() {
        case "true": .all
        case "false": .nothing
        default: .matching(text)
        }
    }

    fileprivate func fieldPermissions() -> [Text: FieldPermission] {
        let permissions = entries { entry in
            entry.value.fieldPermission().map { (Text(entry.name), $0) }
        }
        // A repeated name is reported where the mapping is read.
        return Dictionary(permissions.compactMap(\.self)) { first, _ in first }
    }

    fileprivate func fieldPermission() -> FieldPermission? {
        mapping { keys in
            FieldPermission(
                read: keys.optional("read", default: false) { $0.bool() },
                write: keys.optional("write", default: false) { $0.bool() }
            )
        }
    }
}
