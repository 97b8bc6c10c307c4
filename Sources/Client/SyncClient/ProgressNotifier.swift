/// What somebody who watches a transfer is told.
public struct TransferProgress: Equatable, Sendable {
    public let transferred: UInt64
    public let transferable: UInt64
    /// 0 to 1; 1 only when nothing is left.
    public let estimate: Double
}

public enum TransferDirection: String, CaseIterable, Sendable {
    case upload, download
}

/// Decides which reports one observer hears, and what of them (sync history, 10).
public struct ProgressNotifier: Sendable {
    public enum Mode: String, CaseIterable, Sendable {
        /// Every change, for as long as the observer likes.
        case indefinite
        /// What was to be done when the observer came, and no more.
        case outstanding
    }

    private let direction: TransferDirection
    private let mode: Mode
    /// Reports that do not know of all local writes of the beginning are too early to count.
    private let versionAtStart: UInt64
    private var captured: UInt64?
    private var last: TransferProgress?
    /// Nothing more will come.
    package private(set) var isExpired = false

    package init(_ direction: TransferDirection, _ mode: Mode, localVersion: UInt64) {
        self.direction = direction
        self.mode = mode
        self.versionAtStart = localVersion
    }

    /// What the observer is to hear; nil if that is nothing new.
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
        // What is added later is not waited for; what turns out not to be needed neither.
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
