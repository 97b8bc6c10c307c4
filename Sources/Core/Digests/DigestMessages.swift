/// The body of a comparison's request to the server.
package struct DigestRequest: Codable, Hashable, Sendable {
    /// The partition as canonical Extended JSON; absent for subscriptions.
    package var partition: String?
    package var fileIdent: UInt64
    package var fileIdentSalt: UInt64
    /// The version up to which the client has integrated the history.
    package var serverVersion: UInt64
    /// The properties to compare, by class.
    package var classes: [String: [String]]
    /// The buckets whose objects to list, by class; absent for the digests of classes.
    package var list: [String: [Int]]?

    package init(
        partition: String?,
        fileIdent: UInt64,
        fileIdentSalt: UInt64,
        serverVersion: UInt64,
        classes: [String: [String]],
        list: [String: [Int]]? = nil
    ) {
        self.partition = partition
        self.fileIdent = fileIdent
        self.fileIdentSalt = fileIdentSalt
        self.serverVersion = serverVersion
        self.classes = classes
        self.list = list
    }

    enum CodingKeys: String, CodingKey {
        case partition, classes, list
        case fileIdent = "file_ident"
        case fileIdentSalt = "file_ident_salt"
        case serverVersion = "server_version"
    }
}

/// The server's response to it.
package struct DigestResponse: Codable, Hashable, Sendable {
    package enum Outcome: String, Codable, Sendable {
        case compared
        /// Too much has changed since the client's version: it must sync and ask again.
        case moved
        /// The schemas differ; `schema` names where.
        case schema
    }

    package var outcome: Outcome
    /// The state that was read.
    package var serverVersion: UInt64
    package var classes: [ClassEntry]?
    /// Objects that changed since the client's version, and are in no digest.
    package var changed: [KeyEntry]?
    package var objects: [ObjectEntry]?
    /// There are more objects than the server lists.
    package var isTruncated: Bool?
    package var schema: [String]?

    package struct ClassEntry: Codable, Hashable, Sendable {
        package var name: String
        package var objects: Int
        package var digest: String
        package var buckets: String

        package init(name: String, objects: Int, digest: String, buckets: String) {
            self.name = name
            self.objects = objects
            self.digest = digest
            self.buckets = buckets
        }
    }

    package struct KeyEntry: Codable, Hashable, Sendable {
        package var className: String
        /// The canonical bytes, in hexadecimal.
        package var key: String

        package init(className: String, key: String) {
            self.className = className
            self.key = key
        }

        enum CodingKeys: String, CodingKey {
            case className = "class"
            case key
        }
    }

    package struct ObjectEntry: Codable, Hashable, Sendable {
        package var className: String
        package var key: String
        package var digest: String
        /// The first eight bytes of each property's digest, bytewise by name; empty if unreadable.
        package var properties: String

        package init(className: String, key: String, digest: String, properties: String) {
            self.className = className
            self.key = key
            self.digest = digest
            self.properties = properties
        }

        enum CodingKeys: String, CodingKey {
            case className = "class"
            case key, digest, properties
        }
    }

    package init(_ outcome: Outcome, serverVersion: UInt64) {
        self.outcome = outcome
        self.serverVersion = serverVersion
    }

    enum CodingKeys: String, CodingKey {
        case outcome, classes, changed, objects, schema
        case serverVersion = "server_version"
        case isTruncated = "truncated"
    }
}
