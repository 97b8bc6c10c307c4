/// The names that classes and properties may have (moving an app, 2).
enum SchemaName {
    /// The reason why a name cannot be used here; nil if it can.
    static func problem(of name: String, _ limitInBytes: Int) -> String? {
        if name.isEmpty { return "the name is empty" }
        if name.utf8.count > limitInBytes {
            return "the name has \(name.utf8.count) bytes, more than \(limitInBytes)"
        }
        let hasControl = name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        return hasControl ? "the name has control characters" : nil
    }
}
