package import Changesets

/// A value is JSON, but not Extended JSON (moving an app, 10).
package struct ExtendedJSONError: Error, Hashable, Sendable {
    package let problem: Problem

    package enum Problem: Hashable, Sendable {
        case notAnObject
        case numberOutOfRange
        /// The member with `$` whose value has another form.
        case badTag(Text)
    }
}

extension ExtendedJSONError: CustomStringConvertible {
    package var description: String {
        switch problem {
        case .notAnObject: "a document must be an object"
        case .numberOutOfRange: "a number is out of range"
        case .badTag(let tag): "the value of \(tag) has another form"
        }
    }
}
