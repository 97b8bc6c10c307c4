/// The limits on the filter of a role (flexible sync, 13.6).
///
/// Every object that a client reads or writes is compared with the filters of its role, so these
/// are much lower than the limits of a subscription.
package struct FilterLimits: Hashable, Sendable {
    /// Bytes of the text.
    package var sizeInBytes: Int
    /// Parentheses and negations around one comparison.
    package var nesting: Int
    /// Elements of one list of the user's, for IN.
    package var listElements: Int
    /// Bytes of one text of the user's.
    package var textSizeInBytes: Int

    package init(
        sizeInBytes: Int = 16 << 10,
        nesting: Int = 100,
        listElements: Int = 1_000,
        textSizeInBytes: Int = 4 << 10
    ) {
        self.sizeInBytes = sizeInBytes
        self.nesting = nesting
        self.listElements = listElements
        self.textSizeInBytes = textSizeInBytes
    }
}
