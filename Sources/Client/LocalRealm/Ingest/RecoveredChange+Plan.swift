internal import Changesets
internal import Documents
internal import Schemas

extension RecoveredChange {
    /// The values to write, and the conflicts.
    struct Plan {
        let action: RecoveredOutcome.Action
        let conflict: RecoveredOutcome.Conflict?
        /// The resulting object; nil if it is deleted or not written.
        let result: Document?
        /// Positions of the properties that are written.
        let written: [Int]
    }

    /// - Parameter now: the object in the realm; nil if it does not exist.
    func plan(for now: Document?) -> Plan {
        switch (kind, now) {
        case (.delete, nil):
            return Plan(action: .none, conflict: nil, result: nil, written: [])
        case (.delete, let now?):
            return Plan(
                action: .delete,
                conflict: hasChanged(now, owner.properties.indices) ? .changedSince : nil,
                result: nil,
                written: []
            )
        // Only the server can create an object without primary key.
        case (.create, nil) where owner.primaryKey?.type == .globalKey,
            (.change, nil) where owner.primaryKey?.type == .globalKey:
            return Plan(action: .skip, conflict: .rowGone, result: nil, written: [])
        case (.create, nil):
            return insertion(conflict: nil)
        case (.change, nil):
            return insertion(conflict: .rowGone)
        case (.create, let now?):
            let isSame = now == document
            return update(now, to: document, conflict: isSame ? nil : .rowExists)
        case (.change(let intents), let now?):
            return change(now, intents)
        }
    }

    private func insertion(conflict: RecoveredOutcome.Conflict?) -> Plan {
        Plan(
            action: .insert,
            conflict: conflict,
            result: document,
            written: Array(owner.properties.indices)
        )
    }

    private func update(
        _ now: Document,
        to result: Document,
        conflict: RecoveredOutcome.Conflict?
    ) -> Plan {
        let written = owner.properties.indices.filter { now.values[$0] != result.values[$0] }
        return Plan(
            action: written.isEmpty ? .none : .update,
            conflict: conflict,
            result: result,
            written: written
        )
    }

    private func change(_ now: Document, _ intents: [Int: PropertyIntent]) -> Plan {
        var result = now
        var conflict: RecoveredOutcome.Conflict?
        for (position, intent) in intents.sorted(by: { $0.key < $1.key }) {
            let (value, isLost) = intent.applied(
                to: now.values[position],
                final: document.values[position]
            )
            result.values[position] = value
            if isLost { conflict = .notANumber }
            guard conflict == nil, value != now.values[position] else { continue }
            switch intent {
            // The server's value is overwritten; report it if it has changed since.
            case .set: if hasChanged(now, [position]) { conflict = .changedSince }
            case .members(let put, let dropped):
                let keys = Array(put.keys) + dropped
                if hasChanged(now, position, keys) { conflict = .changedSince }
            case .add, .append, .elements: break
            }
        }
        return update(now, to: result, conflict: conflict)
    }

    /// Whether the properties differ from what the server had when the changes were discarded.
    private func hasChanged(_ now: Document, _ positions: some Sequence<Int>) -> Bool {
        switch server {
        case .unknown: false
        case .absent: true
        case .present(let values):
            positions.contains { position in
                values[position].map { $0 != now.values[position] } ?? false
            }
        }
    }

    private func hasChanged(_ now: Document, _ position: Int, _ keys: [Text]) -> Bool {
        guard case .present(let values) = server,
            case .dictionary(let before)? = values[position],
            case .dictionary(let members) = now.values[position]
        else { return hasChanged(now, [position]) }
        return keys.contains { before[$0] != members[$0] }
    }
}

extension RecoveredChange.PropertyIntent {
    /// The value after the change; `isLost` if the change cannot be applied to it.
    fileprivate func applied(to now: Value, final: Value) -> (value: Value, isLost: Bool) {
        switch (self, now) {
        case (.set, _): return (final, false)
        case (.add(let amount), .scalar(.int(let number))):
            return (.scalar(.int(number &+ amount)), false)
        case (.add, _): return (now, true)
        case (.append(let elements), .list(let list)): return (.list(list + elements), false)
        case (.elements(let added, let removed), .set(var set)):
            for element in added.elements { set.insert(element) }
            for element in removed.elements { set.erase(element) }
            return (.set(set), false)
        case (.members(let put, let dropped), .dictionary(var members)):
            for (key, value) in put { members[key] = value }
            for key in dropped { members[key] = nil }
            return (.dictionary(members), false)
        // The schema defines the property's type, so a value of another form cannot be there.
        case (.append, _), (.elements, _), (.members, _): return (final, false)
        }
    }
}
