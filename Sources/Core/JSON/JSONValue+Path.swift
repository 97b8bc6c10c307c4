extension JSONValue {
    /// The member at a path of names.
    package subscript(path: [Substring]) -> JSONValue? {
        guard let name = path.first else { return self }
        guard case .object(let members) = self else { return nil }
        return members[String(name)]?[Array(path.dropFirst())]
    }
}
