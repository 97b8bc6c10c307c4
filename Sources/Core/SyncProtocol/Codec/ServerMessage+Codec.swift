import Changesets
import Versions

extension ServerMessage {
    /// Reads one whole message; total, and with an offset in every error.
    package init(decoding bytes: [UInt8], context: WireContext) throws(WireError) {
        var reader = FieldReader(bytes, part: .head)
        switch try reader.readName() as Name {
        case .ident:
            let session = try reader.readSession()
            let ident = FileIdent(try reader.readNumber("file ident"))
            let salt = Salt(try reader.readNumber("file ident salt", endingWith: .newline))
            self = .ident(session, SaltedFileIdent(ident: ident, salt: salt))
        case .download: self = .download(try Download(from: &reader, context: context))
        case .unbound: self = .unbound(try reader.readSession(endingWith: .newline))
        case .error: self = .error(try PlainErrorReport(from: &reader))
        case .jsonError: self = .jsonError(try JSONErrorReport(from: &reader))
        case .mark: self = .mark(try reader.readSession(), try reader.readRequest(.newline))
        case .queryError: self = try Self.queryError(from: &reader)
        case .pong:
            let timestamp = try reader.readNumber("timestamp", endingWith: .newline)
            self = .pong(timestampInMilliseconds: timestamp)
        case .logMessage:
            let session = try reader.readOptionalSession()
            let size = try reader.readNumber("size", endingWith: .newline)
            let start = reader.offset
            let body = try reader.readBody(announced: size)
            self = .logMessage(session, try LogMessageBody(decoding: body, at: start))
        case .testCommand:
            let (session, request) = (try reader.readSession(), try reader.readRequest(.space))
            let size = try reader.readNumber("size", endingWith: .newline)
            let body = try reader.readBody(announced: size)
            self = .testCommand(session, request, json: Text(bytes: body))
        }
        try reader.expectEnd()
    }

    /// The whole message, byte for byte as the reference writes it.
    package func encoded() -> [UInt8] {
        switch self {
        case .ident(let session, let file):
            var writer = HeadWriter(Name.ident.rawValue)
            writer.writeField(session)
            writer.writeField(file.ident.rawValue)
            writer.writeField(file.salt.rawValue)
            writer.endHead()
            return writer.bytes
        case .download(let download): return download.encoded()
        case .unbound(let session):
            var writer = HeadWriter(Name.unbound.rawValue)
            writer.writeField(session)
            writer.endHead()
            return writer.bytes
        case .error(let report): return report.encoded()
        case .jsonError(let report): return report.encoded()
        case .mark(let session, let request):
            var writer = HeadWriter(Name.mark.rawValue)
            writer.writeField(session)
            writer.writeField(request.rawValue)
            writer.endHead()
            return writer.bytes
        case .queryError(let session, let error):
            var writer = HeadWriter(Name.queryError.rawValue)
            writer.writeField(error.code)
            writer.writeField(UInt64(error.message.bytes.count))
            writer.writeField(session)
            writer.writeField(error.version.rawValue)
            writer.endHead()
            writer.write(error.message.bytes)
            return writer.bytes
        case .pong(let timestamp):
            var writer = HeadWriter(Name.pong.rawValue)
            writer.writeField(timestamp)
            writer.endHead()
            return writer.bytes
        case .logMessage(let session, let body):
            var writer = HeadWriter(Name.logMessage.rawValue)
            writer.writeField(session)
            writer.writeField(UInt64(body.encoded.count))
            writer.endHead()
            writer.write(body.encoded)
            return writer.bytes
        case .testCommand(let session, let request, let json):
            var writer = HeadWriter(Name.testCommand.rawValue)
            writer.writeField(session)
            writer.writeField(request.rawValue)
            writer.writeField(UInt64(json.bytes.count))
            writer.endHead()
            writer.write(json.bytes)
            return writer.bytes
        }
    }

    /// The session of a DOWNLOAD, without a look at the rest of it; nil for other messages, and for a damaged one.
    package static func sessionOfDownload(_ bytes: [UInt8]) -> SessionIdent? {
        var reader = FieldReader(bytes, part: .head)
        guard let name = try? reader.readName() as Name, name == .download else { return nil }
        return try? reader.readSession()
    }

    private static func queryError(from reader: inout FieldReader) throws(WireError) -> Self {
        let code = try reader.readSigned("error code")
        let size = try reader.readNumber("message size")
        let session = try reader.readSession()
        let version = QueryVersion(try reader.readNumber("query version", endingWith: .newline))
        let message = Text(bytes: try reader.readBody(announced: size))
        return .queryError(session, QueryError(code: code, message: message, version: version))
    }

    fileprivate enum Name: String {
        case ident, download, unbound, error, mark, pong
        case jsonError = "json_error"
        case queryError = "query_error"
        case logMessage = "log_message"
        case testCommand = "test_command"
    }
}

extension ServerMessage.Download {
    private static let fieldsInPartitionBasedSync = 11
    private static let fieldsInFlexibleSync = 13

    fileprivate init(
        from reader: inout FieldReader,
        context: WireContext
    ) throws(WireError) {
        try reader.expectForm(
            of: "DOWNLOAD",
            in: context.mode,
            fields: [
                .partitionBased: Self.fieldsInPartitionBasedSync,
                .flexible: Self.fieldsInFlexibleSync,
            ]
        )
        let session = try reader.readSession()
        let download = DownloadCursor(
            serverVersion: ServerVersion(try reader.readNumber("download server version")),
            lastIntegratedClientVersion: ClientVersion(
                try reader.readNumber("download client version")
            )
        )
        let latest = SaltedServerVersion(
            version: ServerVersion(try reader.readNumber("latest server version")),
            salt: Salt(try reader.readNumber("latest server version salt"))
        )
        let upload = UploadCursor(
            clientVersion: ClientVersion(try reader.readNumber("upload client version")),
            lastIntegratedServerVersion: ServerVersion(
                try reader.readNumber("upload server version")
            )
        )
        let extent = try ServerMessage.Extent(from: &reader, mode: context.mode)
        let head = try ChangesetBody.Head(
            from: &reader,
            limits: context.limits,
            endingWith: .newline
        )
        let body = try head.readBody(from: &reader)
        self.init(
            session: session,
            progress: SyncProgress(
                latestServerVersion: latest,
                download: download,
                upload: upload
            ),
            extent: extent,
            changesets: try DownloadChangeset.entries(of: body)
        )
    }

    fileprivate func encoded() -> [UInt8] {
        let body = ChangesetBody(DownloadChangeset.body(of: changesets))
        var writer = HeadWriter(
            ServerMessage.Name.download.rawValue,
            reserving: body.bytes.count + 192
        )
        writer.writeField(session)
        writer.writeField(progress.download.serverVersion.rawValue)
        writer.writeField(progress.download.lastIntegratedClientVersion.rawValue)
        writer.writeField(progress.latestServerVersion.version.rawValue)
        writer.writeField(progress.latestServerVersion.salt.rawValue)
        writer.writeField(progress.upload.clientVersion.rawValue)
        writer.writeField(progress.upload.lastIntegratedServerVersion.rawValue)
        extent.write(to: &writer)
        body.writeHead(to: &writer)
        writer.endHead()
        writer.write(body.bytes)
        return writer.bytes
    }
}

extension ServerMessage.Extent {
    fileprivate init(from reader: inout FieldReader, mode: SyncMode) throws(WireError) {
        switch mode {
        case .partitionBased:
            self = .partition(downloadableBytes: try reader.readNumber("downloadable bytes"))
        case .flexible:
            let version = QueryVersion(try reader.readNumber("query version"))
            let start = reader.offset
            let state = ServerMessage.BatchState(rawValue: try reader.readNumber("batch state"))
            guard let state else {
                throw reader.error(.unknownValue(field: "batch state"), at: start)
            }
            self = .query(version, state, try reader.readEstimate("progress estimate"))
        }
    }

    fileprivate func write(to writer: inout HeadWriter) {
        switch self {
        case .partition(let downloadableBytes):
            writer.writeField(downloadableBytes)
        case .query(let version, let state, let estimate):
            writer.writeField(version.rawValue)
            writer.writeField(state.rawValue)
            writer.writeField(estimate.text)
        }
    }
}

extension PlainErrorReport {
    fileprivate init(from reader: inout FieldReader) throws(WireError) {
        let code = try reader.readSigned("error code")
        let size = try reader.readNumber("message size")
        let tryAgain = try reader.readFlag("try again")
        let session = try reader.readOptionalSession(endingWith: .newline)
        let message = Text(bytes: try reader.readBody(announced: size))
        self.init(code: code, message: message, tryAgain: tryAgain, session: session)
    }

    fileprivate func encoded() -> [UInt8] {
        var writer = HeadWriter(ServerMessage.Name.error.rawValue)
        writer.writeField(code)
        writer.writeField(UInt64(message.bytes.count))
        writer.writeField(tryAgain)
        writer.writeField(session)
        writer.endHead()
        writer.write(message.bytes)
        return writer.bytes
    }
}

extension JSONErrorReport {
    fileprivate init(from reader: inout FieldReader) throws(WireError) {
        let code = try reader.readSigned("error code")
        let size = try reader.readNumber("size")
        let session = try reader.readOptionalSession(endingWith: .newline)
        let start = reader.offset
        let text = try reader.readBody(announced: size)
        let body = try JSONErrorBody(decoding: text, code: code, at: start)
        self.init(code: code, session: session, body: body)
    }

    fileprivate func encoded() -> [UInt8] {
        var writer = HeadWriter(ServerMessage.Name.jsonError.rawValue)
        writer.writeField(code)
        writer.writeField(UInt64(body.encoded.count))
        writer.writeField(session)
        writer.endHead()
        writer.write(body.encoded)
        return writer.bytes
    }
}
