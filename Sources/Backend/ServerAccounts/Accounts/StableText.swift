/// A text of a value that is equal in all processes for equal values: members of sets and entries of
/// dictionaries are in order, which differs from process to process otherwise.
enum StableText {
    static func of(_ value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        let parts = mirror.children.map { child in
            (child.label.map { "\($0): " } ?? "") + of(child.value)
        }
        switch mirror.displayStyle {
        case .set, .dictionary: return "{\(parts.sorted().joined(separator: ", "))}"
        // A nil, and a case without values, have no children.
        case .enum, .optional:
            return parts.isEmpty
                ? String(describing: value) : "(\(parts.joined(separator: ", ")))"
        case .struct, .class, .tuple, .collection, .foreignReference:
            return "\(mirror.subjectType)(\(parts.joined(separator: ", ")))"
        case nil: return String(reflecting: value)
        @unknown default: return String(reflecting: value)
        }
    }
}
