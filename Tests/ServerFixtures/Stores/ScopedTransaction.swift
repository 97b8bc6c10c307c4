import Scopes
import ServerStore

/// A transaction that writes only within its scope, and reads anything.
package final class ScopedTransaction {
    let transaction: any StoreTransaction
    private let scope: WriteScope

    init(_ transaction: any StoreTransaction, within scope: WriteScope) {
        self.transaction = transaction
        self.scope = scope
    }

    func require(_ file: ServerFileID) throws(StoreError) {
        let isWithin =
            switch scope {
            case .file(let expected): file == expected
            case .partition(let app, let partition):
                try transaction.file(of: app, partition)?.id == file
            case .accounts: false
            case .app(let app):
                // A write about a file that does not exist changes nothing.
                try transaction.file(file).map { $0.app == app } ?? true
            }
        guard isWithin else { throw outside("server file \(file.rawValue)") }
    }

    func requirePartition(_ partition: Partition, of app: AppID) throws(StoreError) {
        let isWithin =
            switch scope {
            case .partition(let expected, let value): app == expected && partition == value
            case .app(let expected): app == expected
            case .file, .accounts: false
            }
        guard isWithin else { throw outside("partition \(partition) of app \(app)") }
    }

    func requireAccounts(of app: AppID) throws(StoreError) {
        let isWithin =
            switch scope {
            case .accounts(let expected), .app(let expected): app == expected
            case .file, .partition: false
            }
        guard isWithin else { throw outside("accounts of app \(app)") }
    }

    func requireWhole(_ app: AppID) throws(StoreError) {
        guard scope == .app(app) else { throw outside("app \(app) as a whole") }
    }

    private func outside(_ subject: String) -> StoreError {
        StoreError(.unusable, "a write about \(subject) is outside its scope, \(scope)")
    }
}
