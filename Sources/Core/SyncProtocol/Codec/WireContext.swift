/// What a codec must know about the connection to read a message.
package struct WireContext: Hashable, Sendable {
    /// IDENT and DOWNLOAD have one form in each mode.
    package let mode: SyncMode
    package let limits: Limits

    package init(mode: SyncMode, limits: Limits) {
        self.mode = mode
        self.limits = limits
    }
}
