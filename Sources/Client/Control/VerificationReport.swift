/// The body of `POST /v1/realms/R/verify`.
package struct VerifyRequest: Codable, Sendable, Equatable {
    /// For each sync; absent means no limit.
    package var timeoutInSeconds: Double?

    package init(timeoutInSeconds: Double?) {
        self.timeoutInSeconds = timeoutInSeconds
    }
}

/// One line of the response: a step, and at the end the result or the error.
package struct VerificationLine: Codable, Sendable, Equatable {
    package enum Step: String, Codable, Sendable {
        case syncing
        case reading
        case askingServer = "asking-server"
        case listingDifferences = "listing-differences"
    }

    package var step: Step?
    /// The class that is being read, and the objects read so far.
    package var className: String?
    package var objects: Int?
    package var result: VerificationReport?
    package var error: ControlError?
    /// With an error: the outcome of the sync that failed.
    package var outcome: SyncReport.Outcome?

    private enum CodingKeys: String, CodingKey {
        case step, objects, result, error, outcome
        case className = "class"
    }

    package init(
        step: Step? = nil,
        className: String? = nil,
        objects: Int? = nil,
        result: VerificationReport? = nil,
        error: ControlError? = nil,
        outcome: SyncReport.Outcome? = nil
    ) {
        self.step = step
        self.className = className
        self.objects = objects
        self.result = result
        self.error = error
        self.outcome = outcome
    }
}

/// The result of comparing a realm with its server.
package struct VerificationReport: Codable, Sendable, Equatable {
    package let realm: String
    package let equal: Bool
    package let serverVersion: UInt64
    package let classes: [ClassReport]
    package let differences: [Difference]
    /// Objects that changed meanwhile, and were not compared.
    package let changedObjects: Int
    /// Whether there are more differences than the list has.
    package let truncated: Bool
    /// Classes and properties that only one end has.
    package let schemaDifferences: [String]

    package struct ClassReport: Codable, Sendable, Equatable {
        package let name: String
        package let objects: Int
        package let equal: Bool

        package init(name: String, objects: Int, equal: Bool) {
            self.name = name
            self.objects = objects
            self.equal = equal
        }
    }

    package struct Difference: Codable, Sendable, Equatable {
        package let className: String
        /// As an SQL literal; nil if the row's key cannot be read.
        package let key: String?
        /// `missing`, `extra`, `different` or `unreadable`: of the local realm.
        package let kind: String
        package let properties: [String]

        private enum CodingKeys: String, CodingKey {
            case className = "class"
            case key, kind, properties
        }

        package init(className: String, key: String?, kind: String, properties: [String]) {
            self.className = className
            self.key = key
            self.kind = kind
            self.properties = properties
        }
    }

    package init(
        realm: String,
        equal: Bool,
        serverVersion: UInt64,
        classes: [ClassReport],
        differences: [Difference],
        changedObjects: Int,
        truncated: Bool,
        schemaDifferences: [String]
    ) {
        self.realm = realm
        self.equal = equal
        self.serverVersion = serverVersion
        self.classes = classes
        self.differences = differences
        self.changedObjects = changedObjects
        self.truncated = truncated
        self.schemaDifferences = schemaDifferences
    }
}
