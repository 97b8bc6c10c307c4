package import Versions

/// A message with which one process tells the others of a change, by NOTIFY (server on PostgreSQL, 6.1 to 6.3).
package enum Announcement: Hashable, Sendable {
    /// Files and their newest versions.
    case grown([Growth])
    /// A client file is bound with another session epoch: earlier connections of it end.
    case takenOver(file: Int64, ident: FileIdent, epoch: Int64)
    /// Users, apps or keys were changed by an administrator.
    case controlled(epoch: Int64)
    /// The same, with the change itself as text.
    case ordered(String)

    package struct Growth: Hashable, Sendable {
        /// The column `file_id`.
        package let file: Int64
        package let version: ServerVersion

        package init(file: Int64, version: ServerVersion) {
            self.file = file
            self.version = version
        }
    }

    /// The channel of LISTEN and NOTIFY: a database can hold several stores, in schemas of their own.
    package static func channel(ofStore storeID: String) -> String {
        "realm-\(storeID)"
    }
}

extension Announcement {
    /// The text that NOTIFY carries.
    package var payload: String {
        switch self {
        case .grown(let growths): "g" + growths.map(\.text).joined(separator: ";")
        case .takenOver(let file, let ident, let epoch): "t\(file),\(ident.rawValue),\(epoch)"
        case .controlled(let epoch): "c\(epoch)"
        case .ordered(let text): "o\(text)"
        }
    }

    /// Nil for a text that another version, or another program, sent: it is ignored.
    package init?(payload: String) {
        let body = payload.dropFirst()
        switch payload.first {
        case "g":
            let parts = body.split(separator: ";", omittingEmptySubsequences: false)
            let growths = parts.compactMap { Growth(text: $0) }
            guard !growths.isEmpty, growths.count == parts.count else { return nil }
            self = .grown(growths)
        case "t":
            guard let numbers = Self.numbers(body, count: 3) else { return nil }
            self = .takenOver(
                file: numbers[0],
                ident: FileIdent(UInt64(numbers[1])),
                epoch: numbers[2]
            )
        case "c":
            guard let numbers = Self.numbers(body, count: 1) else { return nil }
            self = .controlled(epoch: numbers[0])
        case "o": self = .ordered(String(body))
        default: return nil
        }
    }

    /// Numbers of the database, from 0.
    fileprivate static func numbers(_ text: Substring, count: Int) -> [Int64]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int64($0) }
        guard numbers.count == count, parts.count == count, numbers.allSatisfy({ $0 >= 0 }) else {
            return nil
        }
        return numbers
    }
}

extension Announcement.Growth {
    var text: String { "\(file),\(version.rawValue)" }

    init?(text: Substring) {
        guard let numbers = Announcement.numbers(text, count: 2) else { return nil }
        self.init(file: numbers[0], version: ServerVersion(UInt64(numbers[1])))
    }
}
