internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// The table `_realm_backlink`: the links inside JSON, which no index covers (local realm, 4.4 and
/// 5.4).
///
/// One row for each target of a property, however often the property links to it.
struct Backlinks {
    let connection: Connection
    let catalogue: Catalogue

    /// Records that the links of a property have changed.
    func update(
        of key: ColumnValue,
        _ property: Int64,
        in classID: Int64,
        from old: Set<ObjectReference>,
        to new: Set<ObjectReference>
    ) throws(SQLiteError) {
        guard old != new else { return }
        for link in old.subtracting(new) {
            try run(Self.delete, link, key, property, classID)
        }
        for link in new.subtracting(old) {
            try run(Self.insert, link, key, property, classID)
        }
    }

    private static let delete = """
        DELETE FROM _realm_backlink
        WHERE target_class = ?1 AND target_key = ?2 AND class = ?3 AND key = ?4 AND prop = ?5
        """

    private static let insert = """
        INSERT INTO _realm_backlink(target_class, target_key, class, key, prop)
        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING
        """

    private func run(
        _ sql: String,
        _ link: ObjectReference,
        _ key: ColumnValue,
        _ property: Int64,
        _ classID: Int64
    ) throws(SQLiteError) {
        guard let target = catalogue.position(of: link.className) else { return }
        let statement = try connection.statement(sql)
        try statement.bind(catalogue[target].id, at: 1)
        try statement.bind(ColumnForm.encodeLinkKey(link.key), at: 2)
        try statement.bind(classID, at: 3)
        // The null key is the empty blob here, too.
        try statement.bind(key == .null ? .blob([]) : key, at: 4)
        try statement.bind(property, at: 5)
        try statement.run()
    }

    /// Whether it is worth decoding the column to look for links.
    static func mayHoldLinks(_ column: ColumnValue, _ property: PropertySchema) -> Bool {
        guard case .text(let json) = column, json.count > 2 else { return false }
        guard case .mixed = property.type else { return true }
        // In Mixed a link is tagged; if a string contains the tag's text, decoding tells the
        // difference.
        return json.containsLinkTag
    }
}

extension [UInt8] {
    fileprivate var containsLinkTag: Bool {
        let tag = Array("$link".utf8)
        var rest = self[...]
        while let start = rest.firstIndex(of: tag[0]) {
            rest = rest[start...]
            if rest.starts(with: tag) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}

extension Documents.Value {
    /// Everything the value links to, at any depth.
    var links: Set<ObjectReference> {
        var links: Set<ObjectReference> = []
        collectLinks(into: &links)
        return links
    }

    private func collectLinks(into links: inout Set<ObjectReference>) {
        switch self {
        case .scalar(.link(let link)): links.insert(link)
        case .scalar: break
        case .list(let elements):
            for element in elements { element.collectLinks(into: &links) }
        case .set(let elements):
            for case .link(let link) in elements.elements { links.insert(link) }
        case .dictionary(let members):
            for value in members.values { value.collectLinks(into: &links) }
        case .object(let document):
            for value in document.values { value.collectLinks(into: &links) }
        }
    }
}
