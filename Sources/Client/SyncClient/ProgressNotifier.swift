/// Progress of a transfer, in bytes.
public struct TransferProgress: Equatable, Sendable {
    public let transferred: UInt64
    public let transferable: UInt64
    /// 0 to 1; 1 only when nothing is left.
    public let estimate: Double
}

public enum TransferDirection: String, CaseIterable, Sendable {
    case upload, download
}

/// Selects the reports for one observer (sync history, 10).
public struct ProgressNotifier: Sendable {
    public enum Mode: String, CaseIterable, Sendable {
        /// Every change, until the observer leaves.
        case indefinite
        /// Only what was pending when the observer was added.
        case outstanding
    }

    private let direction: TransferDirection
    private let mode: Mode
    /// Earlier reports lack local writes made before the observer was added, and are skipped.
    private let versionAtStart: UInt64
    private var captured: UInt64?
    private var last: TransferProgress?
    /// No further report follows.
    package private(set) var isExpired = false

    package init(_ direction: TransferDirection, _ mode: Mode, localVersion: UInt64) {
        self.direction = direction
        self.mode = mode
        self.versionAtStart = localVersion
    }

    /// The next report to the observer; nil if nothing has changed.
    package mutating func receive(_ report: TransferReport) -> TransferProgress? {
        guard !isExpired else { return nil }
        let progress =
            switch mode {
            case .indefinite: current(report)
            case .outstanding: outstanding(report)
            }
        guard let progress, progress != last else { return nil }
        last = progress
        return progress
    }

    private func current(_ report: TransferReport) -> TransferProgress {
        switch direction {
        case .upload:
            TransferProgress(
                transferred: report.uploaded,
                transferable: report.uploadable,
                estimate: report.uploadEstimate
            )
        case .download:
            TransferProgress(
                transferred: report.downloaded,
                transferable: report.downloadable,
                estimate: report.downloadEstimate
            )
        }
    }

    private mutating func outstanding(_ report: TransferReport) -> TransferProgress? {
        if direction == .upload, report.localVersion < versionAtStart { return nil }
        let now = current(report)
        // Neither later additions nor transfers that prove unnecessary are waited for.
        let total = min(captured ?? now.transferable, now.transferable)
        captured = total
        isExpired = now.transferred >= total
        let share = total == 0 ? 0 : min(1, Double(now.transferred) / Double(total))
        return TransferProgress(
            transferred: now.transferred,
            transferable: total,
            estimate: isExpired ? 1 : direction == .upload ? share : now.estimate
        )
    }
}
