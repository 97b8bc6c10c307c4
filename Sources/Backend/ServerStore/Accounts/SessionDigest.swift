/// Identifies a log-in session without its id (app services, 14). A reader of the store cannot
/// create a token from it.
package struct SessionDigest: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}
