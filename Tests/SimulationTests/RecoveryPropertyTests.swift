import Changesets
import ClientReset
import Documents
import Schemas
import TestSupport
import Testing

/// Recovery on random states with every kind of property and instruction (client reset, 7).
@Suite("Recovery of random changes")
struct RecoveryPropertyTests {
    @Test("The changesets repeat the recovery on the server's state, and the realm follows")
    func recordedChanges() throws {
        for seed in Seeds.some(300) {
            var world = try RecoveryWorld(seed: seed)
            let remote = try world.transactions(on: world.base, count: 4, number: 2)
            let result = try world.recover(on: remote.realm)
            #expect(result.recovered == result.replayed, "seed \(seed)")
            var transferred = world.local
            _ = try transferred.becomeEqual(to: result.recovered)
            #expect(transferred == result.recovered, "seed \(seed)")
            #expect(try transferred.becomeEqual(to: result.recovered) == [], "seed \(seed)")
        }
    }

    @Test("If the server has not changed anything, the realm stays unchanged")
    func unchangedServer() throws {
        for seed in Seeds.some(300) {
            let world = try RecoveryWorld(seed: seed)
            let result = try world.recover(on: world.base)
            // Links to these are created and removed with them, and recovery removes links to
            // erased ones for good.
            let mortals = world.createdAndErased
            let differences = result.recovered.withoutLinks(to: mortals)
                .differences(from: world.local.withoutLinks(to: mortals))
            #expect(differences == [], "seed \(seed)")
        }
    }
}

/// A state that both sides had, and the local side's changes since then.
private struct RecoveryWorld {
    private(set) var random: SplitMix64
    let base: InMemoryRealm
    let local: InMemoryRealm
    let changesets: [Changeset]

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        base = try Self.transactions(
            on: InMemoryRealm(schema: RandomTransaction.schema),
            count: 6,
            number: 0,
            &random
        ).realm
        (local, changesets) = try Self.transactions(on: base, count: 4, number: 1, &random)
    }

    mutating func transactions(
        on realm: InMemoryRealm,
        count: Int,
        number: Int
    ) throws -> (realm: InMemoryRealm, changesets: [Changeset]) {
        try Self.transactions(on: realm, count: count, number: number, &random)
    }

    private static func transactions(
        on realm: InMemoryRealm,
        count: Int,
        number: Int,
        _ random: inout SplitMix64
    ) throws -> (realm: InMemoryRealm, changesets: [Changeset]) {
        var realm = realm
        var changesets: [Changeset] = []
        for _ in 0..<count {
            var transaction = RandomTransaction(realm, number: number, random: random)
            try transaction.run()
            random = transaction.random
            realm = transaction.realm
            changesets.append(try Changeset(decoding: transaction.bytes))
        }
        return (realm, changesets)
    }

    var createdAndErased: Set<ObjectReference> {
        var objects: Set<ObjectReference> = []
        for changeset in changesets {
            for instruction in changeset.instructions {
                switch instruction {
                case .createObject(let target), .eraseObject(let target):
                    objects.insert(changeset.reference(target))
                default: break
                }
            }
        }
        return objects
    }

    func recover(
        on fresh: InMemoryRealm
    ) throws -> (recovered: InMemoryRealm, replayed: InMemoryRealm) {
        var recovery = Recovery(fresh: fresh, local: local)
        var replayed = fresh
        for changeset in changesets {
            try replayed.apply(Changeset(decoding: recovery.replay(changeset)))
        }
        return (fresh.applying(recovery.state), replayed)
    }
}

extension InMemoryRealm {
    /// The readers' view, in which a link without target is null, or not an element; and the same
    /// for links to those objects.
    fileprivate func withoutLinks(to objects: Set<ObjectReference>) -> InMemoryRealm {
        let isLeftOut = { (link: ObjectReference) in isDangling(link) || objects.contains(link) }
        var result = self
        for (className, documents) in self.objects {
            for (key, document) in documents {
                let values = document.values.map { clean($0, isLeftOut) }
                result.setDocument(
                    Document(values: values),
                    for: ObjectReference(className: className, key: key)
                )
            }
        }
        return result
    }

    /// The objects and properties that differ, for people.
    fileprivate func differences(from other: InMemoryRealm) -> [String] {
        schema.classes.flatMap { owner -> [String] in
            let (mine, theirs) = (objects[owner.name] ?? [:], other.objects[owner.name] ?? [:])
            return Set(mine.keys).union(theirs.keys).flatMap { key -> [String] in
                guard let left = mine[key], let right = theirs[key] else {
                    return ["\(owner.name) \(key)"]
                }
                return owner.properties.enumerated().compactMap { position, property in
                    let value = other.schema[owner.name]?.position(of: property.name)
                    let (left, right) = (left.values[position], value.map { right.values[$0] })
                    guard left != right else { return nil }
                    return "\(owner.name) \(key).\(property.name): \(left) for \(right as Any)"
                }
            }
        }.sorted()
    }

    private func clean(_ value: Value, _ isLeftOut: (ObjectReference) -> Bool) -> Value {
        func isGone(_ element: Value) -> Bool {
            guard case .scalar(.link(let link)) = element else { return false }
            return isLeftOut(link)
        }
        return switch value {
        case .scalar: isGone(value) ? .null : value
        case .list(let elements):
            .list(elements.filter { !isGone($0) }.map { clean($0, isLeftOut) })
        case .set(let elements):
            .set(ValueSet(elements.elements.filter { !isGone(.scalar($0)) }))
        case .dictionary(let members): .dictionary(members.mapValues { clean($0, isLeftOut) })
        case .object(let document):
            .object(Document(values: document.values.map { clean($0, isLeftOut) }))
        }
    }
}
