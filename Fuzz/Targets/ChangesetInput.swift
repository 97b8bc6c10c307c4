import Changesets
import Merge

enum ChangesetInput {
    static func run(_ bytes: [UInt8], _ claims: inout Claims) {
        let plain = PlainChangeset(bytes)
        do throws(DecodeError) {
            let changeset = try Changeset(decoding: bytes)
            if let plain { try readAll(plain, of: changeset, &claims) }
            let encoded = changeset.encoded()
            let again = try? Changeset(decoding: encoded)
            claims.check(again?.encoded() == encoded, "a changeset has two encodings")
            let received = try ReceivedChangeset(decoding: bytes)
            claims.check(received.encoded() == encoded, "a received changeset has another encoding")
            let unread = try ReceivedChangeset(decoding: bytes, mayStayPlain: true)
            claims.check(unread.encoded() == encoded, "a plain changeset has another encoding")
        } catch {
            claims.check(
                (0...bytes.count).contains(error.offset),
                "an error is outside of the input"
            )
            claims.check(plain == nil, "a changeset that cannot be decoded is plain")
        }
    }

    private static func readAll(
        _ plain: PlainChangeset,
        of changeset: Changeset,
        _ claims: inout Claims
    ) throws(DecodeError) {
        var (instructionCount, fieldCount) = (0, 0)
        let result = plain.bytes.withUnsafeBufferPointer { buffer in
            Result { () throws(DecodeError) in
                var reader = PlainReader(plain, buffer)
                var object = PlainObject()
                while try reader.read(&object) {
                    instructionCount += plain.instructions(on: [object.place]).count
                    fieldCount += object.fields.count
                }
            }
        }
        try result.get()
        claims.check(
            instructionCount == changeset.instructions.count,
            "an instruction is missing"
        )
        let updates = changeset.instructions.count { $0.code == .update }
        claims.check(fieldCount == updates, "a field is missing")
    }
}

/// The first two bytes are the length of the first changeset.
enum MergeInput {
    static func run(_ bytes: [UInt8], _ claims: inout Claims) {
        guard bytes.count > 2 else { return }
        let rest = bytes.dropFirst(2)
        let length = min(rest.count, Int(bytes[0]) << 8 | Int(bytes[1]))
        guard let ours = operand(rest.prefix(length), of: 2),
            let theirs = operand(rest.dropFirst(length), of: 3)
        else { return }
        var (first, second) = ([ours], [theirs])
        guard (try? rebase(ours: &first, theirs: &second, pairLimit: 20_000)) != nil else { return }
        for operand in first + second {
            let again = try? Changeset(decoding: operand.changeset.encoded())
            claims.check(again != nil, "a merged changeset cannot be decoded")
        }
    }

    private static func operand(_ bytes: ArraySlice<UInt8>, of ident: UInt64) -> MergeOperand? {
        guard let changeset = try? Changeset(decoding: Array(bytes)) else { return nil }
        return MergeOperand(
            changeset: changeset,
            stamp: Stamp(timestamp: UInt64(bytes.count), fileIdent: ident)
        )
    }
}
