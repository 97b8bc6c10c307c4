/// The reason why a document cannot be stored: hosted sync called it unsyncable (moving an app, 6.2).
package struct Unsyncable: Error, Hashable, Sendable {
    package enum Reason: String, Hashable, Sendable {
        case badType = "bad_type"
        case missingRequired = "missing_required"
        case nullForRequired = "null_for_required"
        case badID = "bad_id"
        case noPartition = "no_partition"
        case badPartition = "bad_partition"
        case unreadable
    }

    package let reason: Reason
    /// `box.width`, `notes.[1]`.
    package private(set) var property: String

    package init(_ reason: Reason, _ property: String = "") {
        self.reason = reason
        self.property = property
    }

    /// The same, as seen from one level further out.
    func inside(_ step: String) -> Unsyncable {
        var outer = self
        outer.property = property.isEmpty ? step : "\(step).\(property)"
        return outer
    }
}
