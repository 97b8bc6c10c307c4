import Config
import Control
import RealmSync
import SQLite

/// The part of a realm's status that the health keeper compares every few seconds: it costs less than the whole.
struct RealmHealth: Sendable {
    let name: String
    let state: RealmState
    var cause: String?
    /// Nil while the file is closed.
    var uploads: Uploads?
    /// Progress of the work on the file; nil while it is closed.
    var work: WorkMeter.Reading?

    struct Uploads {
        let localVersion: UInt64
        let progress: Progress

        /// Changes whenever the server takes something.
        struct Progress: Equatable {
            let acknowledgedVersion: UInt64
            let uploadedBytes: UInt64
        }
    }
}

extension RealmHealth {
    init(_ realm: ConfiguredRealm) async {
        let status = await realm.realm.status()
        self.init(
            name: realm.name,
            state: RealmState(status.activity.phase),
            cause: status.activity.cause?.rawValue,
            work: await realm.realm.workload
        )
        uploads = status.file.map { file in
            Uploads(
                localVersion: file.localVersion,
                progress: .init(
                    acknowledgedVersion: file.acknowledgedVersion,
                    uploadedBytes: file.uploadedBytes
                )
            )
        }
    }

    /// That of a realm that the configuration disables.
    init(disabled realm: RealmConfiguration) {
        self.init(
            name: realm.name,
            state: .disabled,
            cause: RealmCause.configuration.rawValue
        )
    }
}
