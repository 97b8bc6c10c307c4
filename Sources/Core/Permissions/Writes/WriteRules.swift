package import Query

/// Decides whether a session may make a change to an object of one class (flexible sync, 11.1).
///
/// The caller decides on continuity, the first condition of that section.
package struct WriteRules: Sendable {
    private let view: ClassView?
    private let role: Compiled?

    private struct Compiled: Sendable {
        let rights: RoleRights
        let write: QueryEvaluator
        let insert: QueryEvaluator
        let delete: QueryEvaluator
    }

    /// - Parameter view: nil if the session sees no object of the class.
    package init(view: ClassView?, rights: ClassRights) {
        self.view = view
        switch rights {
        case .noRole: self.role = nil
        case .role(let rights):
            self.role = Compiled(
                rights: rights,
                write: QueryEvaluator(rights.write),
                insert: QueryEvaluator(rights.insert),
                delete: QueryEvaluator(rights.delete)
            )
        }
    }

    /// The reason for rejecting all of the changeset's instructions on the object; nil if it is
    /// allowed.
    package func rejection(of write: ObjectWrite<some QueryableObject>) -> WriteRejection? {
        // Created and deleted in one changeset: nothing remains to be judged.
        guard write.old != nil || write.new != nil else { return nil }
        for image in [write.old, write.new].compactMap(\.self)
        where view?.contains(image) != true {
            return .outsideView
        }
        return rejectionByRole(of: write)
    }

    /// The same for an asymmetric class, which has no view (flexible sync, 14).
    package func rejection(
        ofAsymmetric write: ObjectWrite<some QueryableObject>
    ) -> WriteRejection? {
        guard write.old == nil else { return .notAllowed }
        return rejectionByRole(of: write)
    }

    private func rejectionByRole(
        of write: ObjectWrite<some QueryableObject>
    ) -> WriteRejection? {
        guard let role else { return .notAllowed }
        for image in [write.old, write.new].compactMap(\.self) where !role.write.matches(image) {
            return .deniedByWriteFilter(role: role.rights.role)
        }
        if write.old == nil, let new = write.new, !role.insert.matches(new) { return .notAllowed }
        if write.new == nil, let old = write.old, !role.delete.matches(old) { return .notAllowed }
        // A deletion changes no field.
        guard write.new == nil || write.changedFields.allSatisfy(role.rights.fields.isWritable)
        else { return .notAllowed }
        return nil
    }
}
