import FoundationEssentials

/// Standard base64 with padding, in which primary keys travel inside error messages.
enum Base64 {
    static func text(of bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
    }

    /// Nil if the text is not base64.
    static func bytes(of text: String) -> [UInt8]? {
        Data(base64Encoded: text).map { Array($0) }
    }
}
