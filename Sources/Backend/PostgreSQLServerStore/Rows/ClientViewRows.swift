import PostgreSQL
import ServerStore
import Versions

/// The tables `view_epoch`, `view_range` and `write_rejection`: what flexible sync keeps for a client
/// file.
enum ClientViewRows {
    private static func client(_ ident: FileIdent, _ file: ServerFileID) -> [Value] {
        [.integer(file.rawValue), .number(ident.rawValue)]
    }

    // MARK: Epochs

    static func readingEpochs(of ident: FileIdent, in file: ServerFileID) -> Step {
        Step(
            """
            SELECT start_version, view, client_version FROM view_epoch
            WHERE file_id = $1 AND ident = $2 ORDER BY start_version
            """,
            client(ident, file)
        )
    }

    static func epochs(_ rows: StoredRows) throws(StoreError) -> [ViewEpoch] {
        try rows.map { row throws(StoreError) in
            ViewEpoch(
                start: ServerVersion(try rows.number(row, 0)),
                view: try rows.bytes(row, 1),
                clientVersion: ClientVersion(try rows.number(row, 2))
            )
        }
    }

    static func insertion(
        of epoch: ViewEpoch,
        of ident: FileIdent,
        in file: ServerFileID
    ) -> Step {
        Step(
            """
            INSERT INTO view_epoch (file_id, ident, start_version, client_version, view)
            VALUES ($1, $2, $3, $4, $5)
            """,
            client(ident, file) + [
                .number(epoch.start.rawValue), .number(epoch.clientVersion.rawValue),
                .bytes(epoch.view),
            ]
        )
    }

    static func removalOfEpochs(
        of ident: FileIdent,
        in file: ServerFileID,
        from start: ServerVersion,
        to end: ServerVersion
    ) -> Step {
        Step(
            """
            DELETE FROM view_epoch
            WHERE file_id = $1 AND ident = $2 AND start_version BETWEEN $3 AND $4
            """,
            client(ident, file) + [.number(start.rawValue), .number(end.rawValue)]
        )
    }

    // MARK: Ranges

    static func readingRanges(
        of ident: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) -> Step {
        Step(
            """
            SELECT start_version, end_version FROM view_range
            WHERE file_id = $1 AND ident = $2 AND end_version > $3 ORDER BY end_version
            """,
            client(ident, file) + [.number(version.rawValue)]
        )
    }

    static func ranges(_ rows: StoredRows) throws(StoreError) -> [ViewRange] {
        try rows.map { row throws(StoreError) in
            ViewRange(
                start: ServerVersion(try rows.number(row, 0)),
                end: ServerVersion(try rows.number(row, 1))
            )
        }
    }

    /// After a lost DOWNLOAD the client may get a longer part of the same history.
    static func insertion(
        of range: ViewRange,
        of ident: FileIdent,
        in file: ServerFileID
    ) -> Step {
        Step(
            """
            INSERT INTO view_range (file_id, ident, start_version, end_version)
            VALUES ($1, $2, $3, $4) ON CONFLICT (file_id, ident, end_version) DO UPDATE
            SET start_version = least(view_range.start_version, excluded.start_version)
            """,
            client(ident, file) + [.number(range.start.rawValue), .number(range.end.rawValue)]
        )
    }

    static func removalOfRanges(
        of ident: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) -> Step {
        Step(
            "DELETE FROM view_range WHERE file_id = $1 AND ident = $2 AND end_version <= $3",
            client(ident, file) + [.number(version.rawValue)]
        )
    }

    // MARK: Rejections

    static func readingRejections(
        of ident: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) -> Step {
        Step(
            """
            SELECT version, client_version, updates FROM write_rejection
            WHERE file_id = $1 AND ident = $2 AND version > $3 ORDER BY version
            """,
            client(ident, file) + [.number(version.rawValue)]
        )
    }

    static func rejections(_ rows: StoredRows) throws(StoreError) -> [RecordedRejection] {
        try rows.map { row throws(StoreError) in
            RecordedRejection(
                compensatedAt: ServerVersion(try rows.number(row, 0)),
                clientVersion: ClientVersion(try rows.number(row, 1)),
                updates: try rows.bytes(row, 2)
            )
        }
    }

    static func insertion(
        of rejection: RecordedRejection,
        of ident: FileIdent,
        in file: ServerFileID
    ) -> Step {
        Step(
            """
            INSERT INTO write_rejection (file_id, ident, version, client_version, updates)
            VALUES ($1, $2, $3, $4, $5)
            """,
            client(ident, file) + [
                .number(rejection.compensatedAt.rawValue),
                .number(rejection.clientVersion.rawValue), .bytes(rejection.updates),
            ]
        )
    }

    static func removalOfRejections(
        of ident: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) -> Step {
        Step(
            "DELETE FROM write_rejection WHERE file_id = $1 AND ident = $2 AND version <= $3",
            client(ident, file) + [.number(version.rawValue)]
        )
    }

    // MARK: All of them

    static func removal(of ident: FileIdent, in file: ServerFileID) -> [Step] {
        let client = client(ident, file)
        return [
            Step("DELETE FROM view_epoch WHERE file_id = $1 AND ident = $2", client),
            Step("DELETE FROM view_range WHERE file_id = $1 AND ident = $2", client),
            Step("DELETE FROM write_rejection WHERE file_id = $1 AND ident = $2", client),
        ]
    }

    static func removal(in file: ServerFileID) -> [Step] {
        let id = [Value.integer(file.rawValue)]
        return [
            Step("DELETE FROM view_epoch WHERE file_id = $1", id),
            Step("DELETE FROM view_range WHERE file_id = $1", id),
            Step("DELETE FROM write_rejection WHERE file_id = $1", id),
        ]
    }
}
