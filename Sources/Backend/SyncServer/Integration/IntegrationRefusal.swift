/// The reason for which an upload was not integrated. Nothing of it was stored (sync history, 14).
enum IntegrationRefusal: Error, Hashable, Sendable {
    /// The ident is not of this server file, or of an earlier generation of it (208).
    case unknownClientFile
    /// A cursor that contradicts what is stored (209).
    case badServerVersion
    /// Not a changeset, or one that cannot be merged or applied (212).
    case badChangeset(reason: String)
    /// The merge would involve too much history (212).
    case tooMuchHistory
    /// Absent for longer than history is kept (222).
    case expired
    /// A schema change that the app does not allow (225).
    case schemaChange(reason: String)
    /// A newer session uses this client file.
    case superseded
}
