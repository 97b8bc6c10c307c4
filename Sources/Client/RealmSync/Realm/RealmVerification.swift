package import Changesets
package import Digests

/// The result of comparing a realm with its server.
package struct RealmVerification: Sendable {
    /// The server's version that both ends were compared at.
    package var serverVersion: UInt64 = 0
    package var classes: [ComparedClass] = []
    package var differences: [ObjectDifference] = []
    /// Objects that others changed meanwhile; they are not compared.
    package var changedObjects = 0
    /// There are more differences than the server lists.
    package var isTruncated = false
    /// Classes and properties that only one end has; then no object is compared.
    package var schemaDifferences: [String] = []

    package struct ComparedClass: Sendable {
        package let name: Text
        /// In the local realm.
        package let objects: Int
        package let isEqual: Bool
    }

    package var isEqual: Bool {
        classes.allSatisfy(\.isEqual) && differences.isEmpty && schemaDifferences.isEmpty
    }
}

/// A step of a comparison.
package enum VerificationStep: Sendable, Equatable {
    case syncing
    /// With the objects read so far.
    case reading(className: Text, objects: Int)
    case askingServer
    case listingDifferences
}

/// The reason for which a realm was not compared.
package enum VerificationFailure: Error, Sendable {
    case sync(SyncResult)
    case file(RealmError)
    /// The server is not a realm-server.
    case unsupported
    /// The realm, or the server's, changes faster than both can be compared; or the server is busy.
    case busy(String)
    case refused(String)
}
