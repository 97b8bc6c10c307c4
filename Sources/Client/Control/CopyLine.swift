/// One line of the response to a copy that asks for its progress: how far it is, and at the end the result or
/// the error.
package struct CopyLine: Codable, Sendable, Equatable {
    package var progress: CopyProgress?
    package var result: CopyReport?
    package var error: ControlError?

    package init(
        progress: CopyProgress? = nil,
        result: CopyReport? = nil,
        error: ControlError? = nil
    ) {
        self.progress = progress
        self.result = result
        self.error = error
    }
}

/// The sizes of an unfinished copy and of its source. A copy has no free pages, so it may stay smaller.
package struct CopyProgress: Codable, Sendable, Equatable {
    package let writtenBytes: UInt64
    package let sourceBytes: UInt64

    package init(writtenBytes: UInt64, sourceBytes: UInt64) {
        self.writtenBytes = writtenBytes
        self.sourceBytes = sourceBytes
    }
}
