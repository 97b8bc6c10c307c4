package import Versions

/// The view of one client file from a version on: it begins with a bootstrap (flexible sync, 8.1).
package struct ViewEpoch: Hashable, Sendable {
    /// A version of its own: the client's cursor behind the bootstrap.
    package let start: ServerVersion
    /// The subscriptions and the user's read filters, joined: the query of each class as a JSON object.
    package let view: [UInt8]
    /// The client's newest integrated version at the start. If it is still the same when the client
    /// comes back without the bootstrap, nothing was judged by this view.
    package let clientVersion: ClientVersion

    package init(start: ServerVersion, view: [UInt8], clientVersion: ClientVersion) {
        self.start = start
        self.view = view
        self.clientVersion = clientVersion
    }
}

/// Versions that one client file got as a unit: states of objects as of the end came together with
/// changes of earlier versions. An upload based between the two counts as based on the start.
package struct ViewRange: Hashable, Sendable {
    package let start: ServerVersion
    package let end: ServerVersion

    package init(start: ServerVersion, end: ServerVersion) {
        self.start = start
        self.end = end
    }
}

/// Rejected writes of one changeset, until their client has the version that undoes them (flexible
/// sync, 11.4).
package struct RecordedRejection: Hashable, Sendable {
    /// The private version that undoes the writes.
    package let compensatedAt: ServerVersion
    package let clientVersion: ClientVersion
    /// The rejected objects and the reasons, in the writer's form.
    package let updates: [UInt8]

    package init(compensatedAt: ServerVersion, clientVersion: ClientVersion, updates: [UInt8]) {
        self.compensatedAt = compensatedAt
        self.clientVersion = clientVersion
        self.updates = updates
    }
}
