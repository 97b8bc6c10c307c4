package import YAML

extension YAMLNode {
    /// This node merged with a later file's node: mappings merge by key, all else is replaced.
    ///
    /// Every value keeps its location, so messages name the file to correct.
    package func merged(with later: YAMLNode) -> YAMLNode {
        guard case .mapping(var mapping) = content else { return later }
        // An empty "realms:" adds nothing, and removes nothing.
        if later.isNull { return self }
        guard case .mapping(let added) = later.content else { return later }
        var positions = Dictionary(
            mapping.entries.enumerated().map { ($1.key, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for entry in added.entries {
            if let position = positions[entry.key] {
                mapping.entries[position] = YAMLMapping.Entry(
                    key: entry.key,
                    keyLocation: entry.keyLocation,
                    value: mapping.entries[position].value.merged(with: entry.value)
                )
            } else {
                positions[entry.key] = mapping.entries.count
                mapping.entries.append(entry)
            }
        }
        mapping.duplicates += added.duplicates
        return YAMLNode(location: location, tag: tag, content: .mapping(mapping))
    }
}
