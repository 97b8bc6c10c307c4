/// How much work one upload may make for the store's only writer (merge rules, 10): about half a second
/// of a processor.
package struct MergeLimits: Hashable, Sendable {
    /// Pairs of instructions that meet, 40 million in a second.
    package var pairs: Int
    /// History that is about the same objects, 75 MB in a second.
    package var historySizeInBytes: Int
    /// What an object may grow to, as a document.
    package var documentSizeInBytes: Int
    /// Corrections that wait for one client; those of one upload may be a quarter of that, and sets that it
    /// makes the server write out half of it.
    package var correctionSizeInBytes: Int
    /// A longer history is not read by the writer as a whole, but looked up in an index.
    package var unindexedSizeInBytes: Int

    package init(
        pairs: Int = 12_000_000,
        historySizeInBytes: Int = 16 << 20,
        documentSizeInBytes: Int = 16 << 20,
        correctionSizeInBytes: Int = 64 << 20,
        unindexedSizeInBytes: Int = 1 << 20
    ) {
        self.pairs = pairs
        self.historySizeInBytes = historySizeInBytes
        self.documentSizeInBytes = documentSizeInBytes
        self.correctionSizeInBytes = correctionSizeInBytes
        self.unindexedSizeInBytes = unindexedSizeInBytes
    }
}
