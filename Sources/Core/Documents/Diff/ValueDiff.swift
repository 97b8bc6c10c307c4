package import Changesets
package import Schemas

/// Writes the instructions that turn one value of a property into another (local realm, 4.5).
///
/// The indices and sizes count every stored element, dangling links included. Applying the
/// instructions to the old value gives the new one; equal values give none.
package struct ValueDiff: Sendable {
    let schema: RealmSchema
    /// Properties whose changes add up.
    let counters: Set<PropertyName>

    package init(schema: RealmSchema, counters: Set<PropertyName> = []) {
        self.schema = schema
        self.counters = counters
    }

    /// Writes the change from the old value to `new`.
    package func write(
        from old: Value,
        to new: Value,
        of property: PropertySchema,
        in object: ObjectReference,
        into changeset: inout ChangesetWriter
    ) {
        guard old != new else { return }
        withWriter(object, property, &changeset) {
            $0.write(old, new, property, of: object.className)
        }
    }

    /// Writes the value of a newly created object; `isDefault` marks an automatic default.
    package func writeInitial(
        _ value: Value,
        of property: PropertySchema,
        in object: ObjectReference,
        isDefault: Bool,
        into changeset: inout ChangesetWriter
    ) {
        guard value != property.defaultValue else { return }
        // No comparison is needed: by far the most frequent case.
        if case .scalar(let new) = value {
            if property.defaultValue.mustGiveWay(to: value, isMixed: false, isElement: false) {
                changeset.makeUnequal(object, property.name, path: [], to: new)
            }
            changeset.update(object, property.name, to: value.content, isDefault: isDefault)
            return
        }
        withWriter(object, property, &changeset) { $0.writeInitial(value, property) }
    }

    /// Replaces a value that is unknown here.
    package func writeReplacement(
        _ value: Value,
        of property: PropertySchema,
        in object: ObjectReference,
        into changeset: inout ChangesetWriter
    ) {
        withWriter(object, property, &changeset) { $0.replace(with: value, property) }
    }

    private func withWriter(
        _ object: ObjectReference,
        _ property: PropertySchema,
        _ changeset: inout ChangesetWriter,
        _ body: (inout DiffWriter) -> Void
    ) {
        var writer = DiffWriter(diff: self, object: object, field: property.name)
        // Swapped, not copied: the output can be large.
        swap(&writer.changeset, &changeset)
        body(&writer)
        swap(&writer.changeset, &changeset)
    }
}
