package import SchemaFiles

/// A local realm, and what part of the app's data it holds (section `realms`).
package struct RealmConfiguration: Hashable, Sendable {
    /// Safe as the name of a file.
    package var name: String
    package var user: UserConfiguration
    package var partition: PartitionSetting
    /// Nil if the classes are learned from the server.
    package var schema: SchemaDeclaration?
    /// The SQLite file.
    package var path: String
    package var isEnabled: Bool
    package var capture: CaptureConfiguration
}

/// When local writes become changesets (local realm, 4.2 and 6).
package struct CaptureConfiguration: Hashable, Sendable {
    /// How long writes that follow each other closely are gathered.
    package var delay: Duration = .milliseconds(20)
    /// Writes further apart than this belong to different changesets.
    package var splitGap: Duration = .seconds(10)
}
