package import Changesets
package import ServerStore
import Versions

/// Takes the objects that clients insert into asymmetric classes, in place of the store (flexible sync,
/// 14).
package protocol ObjectSink: Sendable {
    /// Returns once the objects are durable. The same ones may come again.
    func take(_ objects: [IngestedObject]) async throws(SinkFailure)
}

/// An inserted object of an asymmetric class.
package struct IngestedObject: Hashable, Sendable {
    package let className: Text
    package let user: UserID
    /// JSON, as the store would keep it.
    package let document: [UInt8]
}

/// A sink cannot take objects now. The upload is tried again.
package struct SinkFailure: CodedError, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// It has room once its program has taken some.
        case full
        case unusable
    }

    package let kind: Kind
    package let code: String
    package let description: String

    package init(_ kind: Kind, code: String, _ description: String) {
        self.kind = kind
        self.code = code
        self.description = description
    }
}

/// The inserted objects of an upload, in its order.
struct Ingestion: Hashable, Sendable {
    private(set) var objects: [IngestedObject] = []

    mutating func append(_ object: IngestedObject) { objects.append(object) }

    /// The objects are not in the sink yet: nothing may be written before they are. The transaction must
    /// be rolled back, and the upload can be tried again once the sink has them.
    struct Needed: Error {
        let ingestion: Ingestion
    }
}
