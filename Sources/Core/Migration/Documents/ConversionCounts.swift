import Changesets

/// Changes of conversion to documents of one class (moving an app, 6.1).
package struct ConversionCounts: Hashable, Sendable {
    /// Values of another type that says the same.
    package var converted = 0
    /// Doubles that became the nearest float.
    package var rounded = 0
    /// Missing values that got the default of their property.
    package var defaulted = 0
    /// Elements that a set already had.
    package var collapsed = 0
    /// Fields without a property.
    package var dropped = 0
    /// Lists and dictionaries in Mixed, which old SDKs cannot read.
    package var nestedCollections = 0

    package init() {}

    package static func += (left: inout ConversionCounts, right: ConversionCounts) {
        left.converted += right.converted
        left.rounded += right.rounded
        left.defaulted += right.defaulted
        left.collapsed += right.collapsed
        left.dropped += right.dropped
        left.nestedCollections += right.nestedCollections
    }
}
