import Changesets
import ServerStore
import Versions

/// Orders for connections, as the text of an announcement (server on PostgreSQL, 6.3).
///
/// Fields are separated by commas, texts are hexadecimal.
enum OrderText {
    /// Nil for growth and takeovers: they have announcements of their own.
    static func text(of message: BackplaneMessage) -> String? {
        switch message {
        case .growth, .takeover: nil
        case .changed(let app): "c,\(app)"
        case .control(let audience, let order): "\(text(of: order)),\(text(of: audience))"
        }
    }

    /// Nil for a text of another version, or another program: it is ignored.
    static func message(_ text: String) -> BackplaneMessage? {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        guard let kind = fields.first else { return nil }
        if kind == "c", fields.count == 2 { return AppID(String(fields[1])).map { .changed($0) } }
        guard fields.count >= 3, let audience = audience(fields[1], fields[2...]),
            let order = order(kind)
        else { return nil }
        return .control(audience, order)
    }

    private static func text(of order: ConnectionOrder) -> String {
        switch order {
        case .pause: "p"
        case .rebind: "r"
        case .leave(let reason): "l\(hexadecimal(reason))"
        }
    }

    private static func order(_ text: Substring) -> ConnectionOrder? {
        switch text.first {
        case "p" where text.count == 1: .pause
        case "r" where text.count == 1: .rebind
        case "l": string(text.dropFirst()).map { .leave(reason: $0) }
        default: nil
        }
    }

    private static func text(of audience: ConnectionAudience) -> String {
        switch audience {
        case .app(let app): "a,\(app)"
        case .user(let user, let app): "u,\(app),\(hexadecimal(user.rawValue))"
        case .session(let digest, let app): "s,\(app),\(Hexadecimal.text(of: digest.bytes))"
        case .client(let client): "f,\(client.file.rawValue),\(client.ident.rawValue)"
        }
    }

    private static func audience(
        _ kind: Substring,
        _ fields: ArraySlice<Substring>
    ) -> ConnectionAudience? {
        guard let first = fields.first, let last = fields.last else { return nil }
        switch (kind, fields.count) {
        case ("a", 1): return AppID(String(first)).map { .app($0) }
        case ("u", 2):
            guard let app = AppID(String(first)), let user = string(last) else { return nil }
            return .user(UserID(user), of: app)
        case ("s", 2):
            guard let app = AppID(String(first)), let bytes = Hexadecimal.bytes(of: last) else {
                return nil
            }
            return .session(SessionDigest(bytes: bytes), of: app)
        case ("f", 2):
            guard let file = Int64(first), let ident = UInt64(last) else { return nil }
            return .client(ClientFileID(file: ServerFileID(file), ident: FileIdent(ident)))
        default: return nil
        }
    }

    private static func hexadecimal(_ text: String) -> String {
        Hexadecimal.text(of: text.utf8)
    }

    private static func string(_ text: Substring) -> String? {
        Hexadecimal.bytes(of: text).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
