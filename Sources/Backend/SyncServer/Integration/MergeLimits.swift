/// Limits of one upload's work for the store's only writer (merge rules, 10): about half a second
/// of processor time.
package struct MergeLimits: Hashable, Sendable {
    /// Pairs of merged instructions; 40 million take a second.
    package var pairs: Int
    /// History of the same objects; 75 MB take a second.
    package var historySizeInBytes: Int
    /// The largest size of an object, as a document.
    package var documentSizeInBytes: Int
    /// Pending corrections for one client. Those of one upload may use a quarter of that, and sets
    /// that it makes the server write out half of it.
    package var correctionSizeInBytes: Int
    /// The writer does not read a longer history as a whole, but uses an index.
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
