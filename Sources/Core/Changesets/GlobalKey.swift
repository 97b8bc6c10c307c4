/// The identity of an object in a class without primary key (instruction semantics, 1.3).
package struct GlobalKey: Hashable, Sendable {
    /// The file ident of the creating client.
    package let high: UInt64
    /// That client's running number in the class.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
