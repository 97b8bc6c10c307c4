import Changesets

/// The rule that a value equal to the old one leaves the old representation in place (instruction
/// semantics, 3.16): the sign of a zero, the trailing zeros of a decimal.
struct EqualValue {
    /// Whether the slot is Mixed. Then the rule applies only between values of one type.
    let isMixed: Bool
    /// Whether the slot is an element of a collection or under a dictionary key.
    let isElement: Bool

    /// Whether writing `new` over `old` leaves `old` as it is.
    func keeps(_ old: Scalar, over new: Scalar) -> Bool {
        switch (old, new) {
        case (.float(let old), .float(let new)): old.value == new.value
        case (.double(let old), .double(let new)): old.value == new.value
        case (.decimal(let old), .decimal(let new)):
            appliesToDecimals && old.isNumericallyEqual(to: new)
        default: false
        }
    }

    /// Whether the slot's value after `new` is written depends on its old value.
    func dependsOnOldValue(_ new: Scalar) -> Bool {
        switch new {
        case .float(let new): new.value == 0
        case .double(let new): new.value == 0
        case .decimal: appliesToDecimals
        default: false
        }
    }

    /// The reference stores the new decimal if the property is one.
    private var appliesToDecimals: Bool { isMixed || isElement }
}
