package import Changesets
import Documents
package import Schemas

/// The property that has the partition's value in each object of an app that has changed to flexible sync,
/// and that value (flexible sync, 16.1).
///
/// Programs written for the partition do not set the property. Without it their objects would be outside of
/// the realm's view.
package struct PartitionValue: Hashable, Sendable {
    package let property: Text
    package let value: Scalar

    package init(property: Text, value: Scalar) {
        self.property = property
        self.value = value
    }

    /// The position of the property in a class; nil if the class lacks it, or has another type there.
    package func position(in owner: ClassSchema) -> Int? {
        guard value != .null, let position = owner.position(of: property),
            owner.properties[position].collection == .single
        else { return nil }
        return switch (owner.properties[position].type, value) {
        case (.mixed, _), (.string, .string), (.int, .int), (.objectID, .objectID), (.uuid, .uuid):
            position
        default: nil
        }
    }
}
