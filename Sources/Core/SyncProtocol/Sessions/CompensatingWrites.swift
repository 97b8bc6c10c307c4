import Versions

/// The rejected writes of one binding whose undo the server has announced and not sent yet (wire
/// protocol, 13.5).
struct CompensatingWrites: Sendable {
    private var announced: [(undoneAt: ServerVersion, problem: ServerProblem)] = []

    mutating func announce(_ problem: ServerProblem, undoneAt version: ServerVersion) {
        announced.append((version, problem))
    }

    /// The errors to report now that everything up to the version is integrated.
    mutating func takeUndone(integrated version: ServerVersion) -> [ServerProblem] {
        let undone = announced.filter { $0.undoneAt <= version }
        announced.removeAll { $0.undoneAt <= version }
        return undone.map(\.problem)
    }
}
