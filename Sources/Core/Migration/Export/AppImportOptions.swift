package import Changesets

/// The decisions that the command line adds to an export (moving an app, 1).
package struct AppImportOptions: Sendable {
    package var appID: String?
    /// Only collections of this database become classes.
    package var database: String?
    /// Names for classes: `DB.COLL` or `Class.property` to a name.
    package var classNames: [String: String] = [:]
    /// Takes an export of the other kind as this one.
    package var mode: SyncKind?
    package var partitionKey: String?
    package var partitionType: String?
    /// The source of roles where an export has two.
    package var rules: RuleSource?
    /// Parts of rules that became narrower are warnings.
    package var acceptsNarrower = false

    package init() {}

    package enum SyncKind: String, Sendable, CaseIterable {
        case partition
        case flexible
    }

    package enum RuleSource: String, Sendable, CaseIterable {
        case unified
        case legacy
    }
}

/// Facts from the data about the collection of custom user data (moving an app, 5).
package struct CustomDataSurvey: Sendable {
    /// Values of the partition key, at most two of them: more are of no interest.
    package var partitions: [String]
    /// Top-level fields in order of appearance, at most 200.
    package var fields: [String]
    /// The type that `_id` has in all documents; nil if they differ, or have one of another type.
    package var keyType: PrimaryKeyType?

    package init(
        partitions: [String] = [],
        fields: [String] = [],
        keyType: PrimaryKeyType? = nil
    ) {
        self.partitions = partitions
        self.fields = fields
        self.keyType = keyType
    }
}
