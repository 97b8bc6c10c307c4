/// A changeset together with its bytes, and what the reader noticed about them.
///
/// A server stores changesets in the re-encoder's form (changesets spec, 9). Most clients write each
/// record as the re-encoder does, and only introduce strings between them: then records are moved, and none
/// is encoded again.
package struct ReceivedChangeset: Sendable {
    private let content: Content

    private enum Content {
        /// Decoded where its instructions are needed.
        case plain(PlainChangeset)
        case decoded(Changeset, [UInt8], RecordLayout, changesSchema: Bool)
    }

    /// - Parameter mayStayPlain: whether a changeset that only creates objects and sets their properties is
    ///   left in its bytes.
    package init(decoding bytes: [UInt8], mayStayPlain: Bool = false) throws(DecodeError) {
        if mayStayPlain, let plain = PlainChangeset(bytes) {
            self.content = .plain(plain)
            return
        }
        let (changeset, layout, changesSchema) = try ChangesetDecoder.decode(bytes)
        self.content = .decoded(changeset, bytes, layout, changesSchema: changesSchema)
    }

    /// Nil if it was decoded.
    package var plain: PlainChangeset? {
        guard case .plain(let plain) = content else { return nil }
        return plain
    }

    /// All instructions; decodes a plain changeset each time.
    package var changeset: Changeset {
        switch content {
        case .decoded(let changeset, _, _, _): return changeset
        case .plain(let plain):
            guard let changeset = try? Changeset(decoding: plain.bytes) else {
                preconditionFailure("a plain changeset can be decoded")
            }
            return changeset
        }
    }

    /// Whether an instruction changes classes or properties.
    package var changesSchema: Bool {
        guard case .decoded(_, _, _, let changesSchema) = content else { return false }
        return changesSchema
    }

    /// The bytes that `changeset.encoded()` gives.
    package func encoded() -> [UInt8] {
        switch content {
        case .plain(let plain):
            return plain.layout.isReencodedAlike
                ? plain.layout.reencoded(plain.bytes) : changeset.encoded()
        case .decoded(let changeset, let bytes, let layout, _):
            guard layout.isReencodedAlike else { return changeset.encoded() }
            guard !changeset.instructions.isEmpty else { return [] }
            return layout.reencoded(bytes)
        }
    }
}
