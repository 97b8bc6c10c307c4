/// The state of the connection that a codec needs to read a message.
package struct WireContext: Hashable, Sendable {
    /// IDENT and DOWNLOAD have a different form in each mode.
    package let mode: SyncMode
    package let limits: Limits

    package init(mode: SyncMode, limits: Limits) {
        self.mode = mode
        self.limits = limits
    }
}
