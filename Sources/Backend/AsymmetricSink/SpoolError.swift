import ServerStore

/// A failure of a spool.
package struct SpoolError: CodedError, CustomStringConvertible, Equatable {
    package let kind: Kind
    package let description: String

    package enum Kind: Equatable, Sendable {
        /// The program has taken too little: the same call may succeed later.
        case full
        /// Another process has the spool's directory.
        case locked
        /// The disk is full or failing, or the directory cannot be used.
        case inputOutput
    }

    package var code: String {
        switch kind {
        case .full: "server.spool_full"
        case .locked: "server.spool_locked"
        case .inputOutput: "server.spool"
        }
    }

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
