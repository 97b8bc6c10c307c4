/// The number of a client file within its server file (sync history, 1).
///
/// 0 means "not assigned", or "of local origin"; 1 is the server itself; clients start at 2.
package struct FileIdent: Hashable, Sendable {
    /// 0 ... 2^63 - 1.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let none = FileIdent(0)
    package static let server = FileIdent(1)
}

/// A random number that proves that two ends mean the same file or version; 0 means "none".
package struct Salt: Hashable, Sendable {
    /// 0 ... 2^63 - 1.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let none = Salt(0)
}

extension Salt: CustomStringConvertible {
    /// A salt is a proof of identity, so it stays out of logs and error texts.
    package var description: String { "<redacted>" }
}

extension Salt: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A file ident together with the salt that proves it.
package struct SaltedFileIdent: Hashable, Sendable {
    package let ident: FileIdent
    package let salt: Salt

    package init(ident: FileIdent, salt: Salt) {
        self.ident = ident
        self.salt = salt
    }

    package static let none = SaltedFileIdent(ident: .none, salt: .none)
}
