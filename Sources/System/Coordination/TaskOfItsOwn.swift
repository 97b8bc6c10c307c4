/// Does the work in a task of its own, and waits for it.
///
/// A task keeps the memory that its deepest call needed until it ends. One that lives for long, and of which there are
/// many, has such calls made here.
package func inTaskOfItsOwn<Value: Sendable>(
    _ work: @escaping @Sendable () async -> Value
) async -> Value {
    await withTaskGroup(of: Value.self) { group in
        group.addTask { await work() }
        while true {
            if let value = await group.next() { return value }
        }
    }
}
