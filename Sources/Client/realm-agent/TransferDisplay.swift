import Control
import WorkDisplay

/// Shows how much of realms is downloaded while they sync: a first sync may take long.
actor TransferDisplay {
    private let display = ProgressDisplay()

    /// Calls its argument with each report on the download of a realm, until there are no more.
    typealias Source =
        @Sendable (
            _ realm: String,
            _ note: @escaping @Sendable (ProgressReport) async -> Void
        ) async throws -> Void

    static let request = ProgressRequest(direction: .download, mode: .indefinite)
    private static let pause = Duration.milliseconds(500)

    /// Runs the body; until it ends, shows what the source reports.
    static func showing<Outcome: Sendable>(
        _ realms: [String],
        from source: @escaping Source,
        _ body: () async -> Outcome
    ) async -> Outcome {
        let display = TransferDisplay()
        let outcome = await withTaskGroup(of: Void.self) { group in
            for realm in realms { group.addTask { await display.follow(realm, source) } }
            let outcome = await body()
            group.cancelAll()
            return outcome
        }
        await display.end()
        return outcome
    }

    /// A realm that is not open yet has no reports: asks again.
    private func follow(_ realm: String, _ source: Source) async {
        while !Task.isCancelled {
            try? await source(realm) { await self.show($0) }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func show(_ report: ProgressReport) {
        display.show(
            WorkProgress(
                share: report.estimate,
                text: "\(report.realm): \(report.transferredBytes) of "
                    + "\(report.transferableBytes) bytes"
            )
        )
    }

    private func end() { display.end() }
}
