/// Typed views of the apps' objects in a database, for programs of the operator (server on PostgreSQL, 5).
package protocol ObjectViews: Sendable {
    /// Makes the views of an app again if its classes have changed.
    ///
    /// - Parameter schema: of the views.
    /// - Returns: whether there was a change.
    @discardableResult
    func refresh(_ app: AppID, in schema: String) async throws -> Bool

    /// Differs once the classes of an app may have changed; apps without files are missing.
    func stamps() async throws -> [AppID: String]
}
