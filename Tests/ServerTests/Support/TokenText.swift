import FoundationEssentials

/// Looks into tokens, and makes some that are wrong.
enum TokenText {
    static func header(of token: String) -> String? { part(0, of: token) }
    static func payload(of token: String) -> String? { part(1, of: token) }

    private static func part(_ index: Int, of token: String) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard index < parts.count else { return nil }
        var text = parts[index].replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: String(text)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The same token with another header.
    static func replacingHeader(of token: String, with json: String) -> String {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        let header = Data(json.utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
        return "\(header).\(parts[1]).\(parts[2])"
    }

    /// The same token with one character of its signature changed.
    static func spoilingSignature(of token: String) -> String {
        var characters = Array(token)
        let index = characters.count - 10
        characters[index] = characters[index] == "A" ? "B" : "A"
        return String(characters)
    }
}
