/// The agent's operations on realm files that the control API needs (features, 9 and 11).
package protocol RealmFileOperations: Sendable {
    /// Copies a realm to a new file, in its present state.
    func copy(_ realm: String, _ request: CopyRequest) async throws(ControlError) -> CopyReport
    /// The same, with its progress on the way.
    func copyWithProgress(_ realm: String, _ request: CopyRequest) -> AsyncStream<CopyLine>
    func delete(_ realm: String, _ request: DeleteRequest) async throws(ControlError)
        -> DeleteReport
    /// The writes that did not reach other replicas, the newest first.
    func rejects(of realm: String, limit: Int) async throws(ControlError) -> RejectsReport
    /// Writes an object again as it was when the server rejected its change.
    func retryReject(_ id: Int64, of realm: String) async throws(ControlError) -> RetryReport
    /// Whether programs can use the realms.
    func readiness() async -> ReadinessReport
}

/// The body of `POST /v1/realms/R/copy`.
package struct CopyRequest: Codable, Sendable, Equatable {
    /// The file to make, which must not be there.
    package var path: String
    /// A non-synced file.
    package var toLocal: Bool?
    /// A file whose first upload to this partition is everything it holds: `string:store-43`.
    package var partition: String?
    /// The configured user whose file it shall be; the realm's own if absent.
    package var user: String?
    /// Whether the response is lines: the progress, and at the end the report or the error.
    package var progress: Bool?

    package init(path: String, toLocal: Bool? = nil, partition: String? = nil, user: String? = nil)
    {
        self.path = path
        self.toLocal = toLocal
        self.partition = partition
        self.user = user
    }
}

/// The answer of `POST /v1/realms/R/copy`.
package struct CopyReport: Codable, Sendable, Equatable {
    package let source: String
    package let path: String
    package let sizeInBytes: UInt64
    /// Bytes of changesets that the copy is going to upload.
    package let pendingUploadBytes: UInt64
    /// Values that no other replica could hold, which the copy has defaults for.
    package let rejected: Int
    /// Objects that were merged into a file that was there; absent for a file that was made.
    package let mergedObjects: Int?

    package init(
        source: String,
        path: String,
        sizeInBytes: UInt64,
        pendingUploadBytes: UInt64,
        rejected: Int,
        mergedObjects: Int? = nil
    ) {
        self.source = source
        self.path = path
        self.sizeInBytes = sizeInBytes
        self.pendingUploadBytes = pendingUploadBytes
        self.rejected = rejected
        self.mergedObjects = mergedObjects
    }
}

/// The answer of `GET /v1/realms/R/rejects`.
package struct RejectsReport: Codable, Sendable, Equatable {
    package let realm: String
    package let rejects: [Reject]

    package init(realm: String, rejects: [Reject]) {
        self.realm = realm
        self.rejects = rejects
    }

    /// A write that did not reach other replicas.
    package struct Reject: Codable, Sendable, Equatable {
        /// Names a write that the server rejected; absent for a local value.
        package let id: Int64?
        /// ISO 8601, UTC.
        package let at: String
        /// `local` where the value cannot be sent, `server` where the server undid the write.
        package let by: RejectedPayload.Side
        package let className: String
        /// The primary key as an SQL literal.
        package let key: String
        /// The property whose value was rejected; absent if it was the object's key or the whole
        /// object.
        package let property: String?
        package let reason: String
        /// The value that was not taken, as an SQL literal.
        package let value: String?
        /// The number of the server's error.
        package let errorCode: Int?
        /// The server version that undid the write.
        package let serverVersion: UInt64?
        /// The object before the server undid the write, as JSON.
        package let rowBefore: String?

        package init(
            id: Int64? = nil,
            at: String,
            by: RejectedPayload.Side,
            className: String,
            key: String,
            property: String? = nil,
            reason: String,
            value: String? = nil,
            errorCode: Int? = nil,
            serverVersion: UInt64? = nil,
            rowBefore: String? = nil
        ) {
            self.id = id
            self.at = at
            self.by = by
            self.className = className
            self.key = key
            self.property = property
            self.reason = reason
            self.value = value
            self.errorCode = errorCode
            self.serverVersion = serverVersion
            self.rowBefore = rowBefore
        }

        private enum CodingKeys: String, CodingKey {
            case id, at, by, key, property, reason, value, errorCode, serverVersion, rowBefore
            case className = "class"
        }
    }
}

/// The answer of `POST /v1/realms/R/rejects/ID/retry`.
package struct RetryReport: Codable, Sendable, Equatable {
    package enum Outcome: String, Codable, Sendable {
        /// The object is as it was before the server undid the write.
        case written
        /// The write had deleted the object, and it is deleted again.
        case deleted
    }

    package let realm: String
    package let id: Int64
    package let className: String
    package let outcome: Outcome

    package init(realm: String, id: Int64, className: String, outcome: Outcome) {
        self.realm = realm
        self.id = id
        self.className = className
        self.outcome = outcome
    }

    private enum CodingKeys: String, CodingKey {
        case realm, id, outcome
        case className = "class"
    }
}

extension RejectsReport.Reject {
    /// The write as one line of an export: the row is an object, not a text.
    package func exportLine() throws -> String {
        var line = try RejectsReport.Reject(
            id: id,
            at: at,
            by: by,
            className: className,
            key: key,
            property: property,
            reason: reason,
            value: value,
            errorCode: errorCode,
            serverVersion: serverVersion
        ).controlJSON()
        // Another program may have written into the file.
        if let rowBefore, rowBefore.hasPrefix("{"), !rowBefore.contains("\n") {
            line.removeLast()
            line += ",\"row\":\(rowBefore)}"
        }
        return line
    }
}

/// The answer of `GET /v1/ready`: status 200 if it is, 503 if it is not.
package struct ReadinessReport: Codable, Sendable, Equatable {
    package let isReady: Bool
    /// The realms that programs cannot use yet, because of errors or the open requirement.
    package let waiting: [Waiting]

    package struct Waiting: Codable, Sendable, Equatable {
        package let realm: String
        package let state: RealmState
        package let cause: String?

        package init(realm: String, state: RealmState, cause: String?) {
            self.realm = realm
            self.state = state
            self.cause = cause
        }
    }

    package init(waiting: [Waiting]) {
        self.isReady = waiting.isEmpty
        self.waiting = waiting
    }

    private enum CodingKeys: String, CodingKey {
        case isReady = "ready"
        case waiting
    }
}
