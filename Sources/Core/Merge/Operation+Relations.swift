/// Relations between the paths of two operations (merge rules, 4).
extension Operation {
    /// A path instruction: one that names a field of an object.
    var isPathInstruction: Bool { level >= 3 }

    func hasSameClass(as other: Operation) -> Bool {
        place.className == other.place.className
    }

    func hasSameObject(as other: Operation) -> Bool {
        place.object == other.place.object && place.object != .none
    }

    /// Class and field are the same, regardless of the object.
    func hasSameColumn(as other: Operation) -> Bool {
        place.field == other.place.field && place.field != .none && hasSameClass(as: other)
    }

    /// Both are path instructions on one field of one object.
    private func hasSameField(as other: Operation) -> Bool {
        hasSameObject(as: other) && place.field == other.place.field && place.field != .none
    }

    func hasSamePath(as other: Operation) -> Bool {
        hasSameContainer(as: other) && end == other.end && index == other.index
    }

    /// Same field, same length of path, all elements but the last are equal.
    func hasSameContainer(as other: Operation) -> Bool {
        hasSameField(as: other) && level == other.level && container == other.container
    }

    /// The path element of `inner` that follows the whole path of this operation, if that is a
    /// proper prefix of inner's.
    func nextStep(ofStrictPrefixIn inner: Operation) -> Step? {
        guard hasSameField(as: inner), level < inner.level else { return nil }
        guard let last = lastStep else { return inner.step(at: 0) }
        guard inner.container.starts(with: container), inner.step(at: container.count) == last
        else { return nil }
        return inner.step(at: container.count + 1)
    }

    /// The position, in the longer path of `inner`, of the index that corresponds to this
    /// operation's last path element, if the elements before it are the same.
    func correspondingPosition(in inner: Operation) -> Int? {
        guard hasSameField(as: inner), end != .none, level < inner.level,
            inner.container.starts(with: container)
        else { return nil }
        return container.count
    }

    /// Nil if the path is empty.
    var firstStep: Step? {
        container.first ?? lastStep
    }

    private var lastStep: Step? {
        switch end {
        case .none: nil
        case .string(let symbol): .string(symbol)
        case .index: .index(index)
        }
    }

    private func step(at position: Int) -> Step? {
        position < container.count ? container[position] : lastStep
    }
}
