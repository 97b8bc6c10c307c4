import LocalRealm
import Versions

/// Progress of uploads and downloads, as one report (sync history, 10).
package struct TransferReport: Equatable, Sendable {
    package let uploaded: UInt64
    package let uploadable: UInt64
    package let uploadEstimate: Double
    package let downloaded: UInt64
    /// Bytes that are downloaded or that the server has announced.
    package let downloadable: UInt64
    package let downloadEstimate: Double
    package let localVersion: UInt64
}

/// Turns the counters of a file into estimates: shares of what came since all was done last.
struct TransferEstimator: Sendable {
    private var finalUploaded: UInt64
    private var finalDownloaded: UInt64

    init(_ status: LocalRealmStatus) {
        self.finalUploaded = status.uploadedBytes
        self.finalDownloaded = status.downloadedBytes
    }

    /// - Parameter bootstrapEstimate: the server's estimate for a running bootstrap, whose size is unknown.
    mutating func report(
        _ status: LocalRealmStatus,
        bootstrapEstimate: Double? = nil
    ) -> TransferReport {
        let uploadable = max(status.uploadableBytes, status.uploadedBytes)
        let downloadable = status.downloadedBytes.adding(clamping: status.downloadableBytes)
        return TransferReport(
            uploaded: status.uploadedBytes,
            uploadable: uploadable,
            uploadEstimate: Self.estimate(status.uploadedBytes, of: uploadable, &finalUploaded),
            downloaded: status.downloadedBytes,
            downloadable: downloadable,
            downloadEstimate: bootstrapEstimate
                ?? Self.estimate(status.downloadedBytes, of: downloadable, &finalDownloaded),
            localVersion: status.localVersion.rawValue
        )
    }

    /// The reference takes "nothing downloaded yet" for complete; ours is complete when nothing is left.
    private static func estimate(
        _ done: UInt64,
        of all: UInt64,
        _ finalDone: inout UInt64
    ) -> Double {
        guard done < all else {
            finalDone = done
            return 1
        }
        let base = min(finalDone, done)
        return Double(done - base) / Double(all - base)
    }
}
