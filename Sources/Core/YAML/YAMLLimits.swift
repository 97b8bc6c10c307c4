/// The limits of one document.
package struct YAMLLimits: Hashable, Sendable {
    package var sizeInBytes: Int
    /// Collections inside collections, aliases expanded.
    package var depth: Int
    /// Keys, scalars and collections, with those behind aliases counted for each alias.
    package var nodes: Int

    package init(sizeInBytes: Int, depth: Int, nodes: Int) {
        self.sizeInBytes = sizeInBytes
        self.depth = depth
        self.nodes = nodes
    }

    /// Far above any hand-written configuration or schema.
    package static let standard = YAMLLimits(sizeInBytes: 4 << 20, depth: 50, nodes: 200_000)
}
