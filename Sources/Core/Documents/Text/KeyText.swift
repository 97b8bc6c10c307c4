package import Changesets

/// A key in readable form, for logs and messages.
package enum KeyText {
    package static func print(_ key: ObjectKey) -> String {
        switch key {
        case .null: "null"
        case .int(let value): "\(value)"
        case .string(let text): text.description
        case .objectID(let value): value.description
        case .uuid(let value): value.description
        case .globalKey(let value): GlobalKeyText.print(value)
        }
    }
}

/// The key of an object without primary key: `<hi>:<lo>` (local realm, 2).
enum GlobalKeyText {
    static func print(_ key: GlobalKey) -> String {
        "\(key.high):\(key.low)"
    }

    static func parse(_ text: [UInt8]) -> GlobalKey? {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { UInt64(String(decoding: $0, as: UTF8.self)) }
        guard parts.count == 2, let high = parts[0], let low = parts[1] else { return nil }
        return GlobalKey(high: high, low: low)
    }
}

/// Dictionary keys as names of JSON members.
///
/// A key with U+0000 or invalid UTF-8 becomes `$string:` and base64: no key begins with `$`, and no
/// tag of Extended JSON has a colon.
enum DictionaryKeyText {
    static let prefix = Array("$string:".utf8)

    static func isPrefixed(_ name: Text) -> Bool {
        name.bytes.starts(with: prefix)
    }

    static func parse(_ name: Text) throws(FormError) -> Text {
        var key = name
        if isPrefixed(name) {
            guard let bytes = Base64.decode(Array(name.bytes.dropFirst(prefix.count))) else {
                throw FormError(.expected(.base64))
            }
            key = Text(bytes: bytes)
        }
        guard DictionaryKey.isLegal(key) else { throw FormError(.illegalKey(key)) }
        return key
    }
}
