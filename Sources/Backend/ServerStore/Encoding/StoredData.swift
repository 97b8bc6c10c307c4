import FoundationEssentials
package import JSON

/// The stored form of profile data: a JSON object.
package enum StoredData {
    package static func encode(_ data: [String: JSONValue]) -> String {
        (try? data.json()).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    package static func decode(_ text: String) -> [String: JSONValue]? {
        try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8))
    }
}
