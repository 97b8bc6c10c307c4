package import Changesets

/// Tells later whether the rights of a user are still the same (flexible sync, 8.4).
package struct UserRightsSignature: Hashable, Sendable {
    /// Of all classes of the schema; nil for one without a role.
    private let classes: [Text: RightsSignature?]

    init(_ classes: [Text: ClassRights]) {
        self.classes = classes.mapValues { rights in
            switch rights {
            case .noRole: nil
            case .role(let role): role.signature
            }
        }
    }

    /// Whether the schema had the class.
    package func knows(_ className: Text) -> Bool { classes[className] != nil }

    private func rights(to className: Text) -> RightsSignature? { classes[className] ?? nil }

    /// The difference between these rights and later ones.
    ///
    /// - Parameter subscribed: the classes with a subscription.
    package func change(
        to present: UserRightsSignature,
        subscribed: some Sequence<Text>
    ) -> Change {
        let areSame = classes.allSatisfy { $0.value == present.rights(to: $0.key) }
        guard areSame else { return .rights }
        let isWider = subscribed.contains { !knows($0) && present.rights(to: $0) != nil }
        return isWider ? .newClass : .none
    }

    /// The difference between rights, as far as it concerns a session.
    package enum Change: Hashable, Sendable {
        /// The same, or the schema has more classes that nothing is subscribed to.
        case none
        /// The same, and a subscribed class was added that may be read.
        case newClass
        case rights
    }
}
