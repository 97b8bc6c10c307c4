/// What one document may ask of its reader.
package struct YAMLLimits: Hashable, Sendable {
    package var sizeInBytes: Int
    /// Collections inside collections, aliases expanded.
    package var depth: Int
    /// Keys, scalars and collections, those behind every alias counted anew.
    package var nodes: Int

    package init(sizeInBytes: Int, depth: Int, nodes: Int) {
        self.sizeInBytes = sizeInBytes
        self.depth = depth
        self.nodes = nodes
    }

    /// Far above any configuration or schema that people write.
    package static let standard = YAMLLimits(sizeInBytes: 4 << 20, depth: 50, nodes: 200_000)
}
