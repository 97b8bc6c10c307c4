package import Changesets

/// A failure of the store: damaged, locked, full, or inaccessible.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// Another process uses it.
        case locked
        /// The file is not a store, or one of a newer version, or it is damaged.
        case unusable
        case diskFull
        /// The open file is no longer the one of its name: what is stored in it is lost with this process.
        case replaced
        case failed
        /// The store's server cannot be reached. Nothing was written, so that the same write may be tried
        /// again.
        case unreachable
        /// The store is not the one that a session was told of, or it is unknown whether a write was
        /// committed. The session must end; its client connects again, and its IDENT is checked.
        case changed
        /// The data can never be stored: trying again is useless.
        case unacceptable
    }

    package let kind: Kind
    /// The failure and its place, for the operator.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }
}

extension StoreError: CodedError {
    package var code: String {
        switch kind {
        case .locked: "store.locked"
        case .unusable: "store.unusable"
        case .diskFull: "store.disk_full"
        case .replaced: "store.replaced"
        case .failed: "store.failed"
        case .unreachable: "store.unreachable"
        case .changed: "store.changed"
        case .unacceptable: "store.unacceptable"
        }
    }
}

extension StoreError {
    /// A stored object cannot be read: the store is damaged.
    package static func damagedObject(
        of className: Text,
        in file: ServerFileID,
        _ error: any Error
    ) -> StoreError {
        StoreError(
            .unusable,
            "an object of class \(className) in server file \(file.rawValue) is damaged: \(error)"
        )
    }
}
