import Changesets
import Versions

extension ClientMessage {
    /// Reads one whole message; total, and with an offset in every error.
    package init(decoding bytes: [UInt8], context: WireContext) throws(WireError) {
        var reader = FieldReader(bytes, part: .head)
        switch try reader.readName() as Name {
        case .bind: self = .bind(try Bind(from: &reader, context: context))
        case .ident: self = .ident(try Ident(from: &reader, context: context))
        case .query:
            let session = try reader.readSession()
            self = .query(session, try Query(from: &reader))
        case .upload: self = .upload(try Upload(from: &reader, context: context))
        case .mark: self = .mark(try reader.readSession(), try reader.readRequest(.newline))
        case .unbind: self = .unbind(try reader.readSession(endingWith: .newline))
        case .ping:
            self = .ping(
                Ping(
                    timestampInMilliseconds: try reader.readNumber("timestamp"),
                    roundTripInMilliseconds: try reader.readNumber("rtt", endingWith: .newline)
                )
            )
        case .jsonError:
            let code = try reader.readSigned("error code")
            let size = try reader.readNumber("message size")
            let session = try reader.readSession(endingWith: .newline)
            let start = reader.offset
            let body = try reader.readBody(announced: size)
            self = .jsonError(
                try ClientErrorReport(session: session, code: code, body: body, at: start)
            )
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
        case .bind(let bind): return bind.encoded()
        case .ident(let ident): return ident.encoded()
        case .query(let session, let query):
            var writer = HeadWriter(Name.query.rawValue)
            writer.writeField(session)
            query.write(to: &writer)
            return writer.bytes
        case .upload(let upload): return upload.encoded()
        case .mark(let session, let request):
            var writer = HeadWriter(Name.mark.rawValue)
            writer.writeField(session)
            writer.writeField(request.rawValue)
            writer.endHead()
            return writer.bytes
        case .unbind(let session):
            var writer = HeadWriter(Name.unbind.rawValue)
            writer.writeField(session)
            writer.endHead()
            return writer.bytes
        case .ping(let ping):
            var writer = HeadWriter(Name.ping.rawValue)
            writer.writeField(ping.timestampInMilliseconds)
            writer.writeField(ping.roundTripInMilliseconds)
            writer.endHead()
            return writer.bytes
        case .jsonError(let report):
            var writer = HeadWriter(Name.jsonError.rawValue)
            writer.writeField(report.code)
            writer.writeField(UInt64(report.encodedBody.count))
            writer.writeField(report.session)
            writer.endHead()
            writer.write(report.encodedBody)
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

    fileprivate enum Name: String {
        case bind, ident, query, upload, mark, unbind, ping
        case jsonError = "json_error"
        case testCommand = "test_command"
    }
}

extension ClientMessage.Bind {
    fileprivate init(
        from reader: inout FieldReader,
        context: WireContext
    ) throws(WireError) {
        let session = try reader.readSession()
        let pathSize = try reader.readNumber("path size")
        let start = reader.offset
        let tokenSize = try reader.readNumber("token size")
        guard tokenSize <= UInt64(context.limits.tokenSizeInBytes) else {
            throw reader.error(.outOfRange(field: "token size"), at: start)
        }
        let needsFileIdent = try reader.readFlag("need file ident")
        _ = try reader.readFlag("is subserver", endingWith: .newline)
        let (announced, overflow) = pathSize.addingReportingOverflow(tokenSize)
        guard !overflow, announced == UInt64(reader.remaining) else {
            throw WireError(
                at: reader.offset,
                .bodySize(announced: overflow ? .max : announced, actual: reader.remaining)
            )
        }
        self.init(
            session: session,
            path: Text(bytes: reader.readBytes(Int(pathSize))),
            needsFileIdent: needsFileIdent
        )
        _ = reader.readBytes(Int(tokenSize))
    }

    fileprivate func encoded() -> [UInt8] {
        var writer = HeadWriter(ClientMessage.Name.bind.rawValue)
        writer.writeField(session)
        writer.writeField(UInt64(path.bytes.count))
        writer.writeField(UInt64(0))
        writer.writeField(needsFileIdent)
        writer.writeField(false)
        writer.endHead()
        writer.write(path.bytes)
        return writer.bytes
    }
}

extension ClientMessage.Ident {
    private static let fieldsInPartitionBasedSync = 7
    private static let fieldsInFlexibleSync = 9

    fileprivate init(
        from reader: inout FieldReader,
        context: WireContext
    ) throws(WireError) {
        try reader.expectForm(
            of: "IDENT",
            in: context.mode,
            fields: [
                .partitionBased: Self.fieldsInPartitionBasedSync,
                .flexible: Self.fieldsInFlexibleSync,
            ]
        )
        let session = try reader.readSession()
        let file = SaltedFileIdent(
            ident: FileIdent(try reader.readNumber("file ident")),
            salt: Salt(try reader.readNumber("file ident salt"))
        )
        let download = DownloadCursor(
            serverVersion: ServerVersion(try reader.readNumber("scan server version")),
            lastIntegratedClientVersion: ClientVersion(
                try reader.readNumber("scan client version")
            )
        )
        let version = ServerVersion(try reader.readNumber("latest server version"))
        let salt = Salt(
            try reader.readNumber(
                "latest server version salt",
                endingWith: context.mode == .partitionBased ? .newline : .space
            )
        )
        self.init(
            session: session,
            file: file,
            download: download,
            latestServerVersion: SaltedServerVersion(version: version, salt: salt),
            query: context.mode == .partitionBased
                ? nil : try ClientMessage.Query(from: &reader)
        )
    }

    fileprivate func encoded() -> [UInt8] {
        var writer = HeadWriter(ClientMessage.Name.ident.rawValue)
        writer.writeField(session)
        writer.writeField(file.ident.rawValue)
        writer.writeField(file.salt.rawValue)
        writer.writeField(download.serverVersion.rawValue)
        writer.writeField(download.lastIntegratedClientVersion.rawValue)
        writer.writeField(latestServerVersion.version.rawValue)
        writer.writeField(latestServerVersion.salt.rawValue)
        if let query {
            query.write(to: &writer)
        } else {
            writer.endHead()
        }
        return writer.bytes
    }
}

extension ClientMessage.Query {
    fileprivate init(from reader: inout FieldReader) throws(WireError) {
        let version = QueryVersion(try reader.readNumber("query version"))
        let size = try reader.readNumber("query size", endingWith: .newline)
        self.init(version: version, body: Text(bytes: try reader.readBody(announced: size)))
    }

    /// The last two fields of the head, and the body.
    fileprivate func write(to writer: inout HeadWriter) {
        writer.writeField(version.rawValue)
        writer.writeField(UInt64(body.bytes.count))
        writer.endHead()
        writer.write(body.bytes)
    }
}

extension ClientMessage.Upload {
    fileprivate init(
        from reader: inout FieldReader,
        context: WireContext
    ) throws(WireError) {
        let session = try reader.readSession()
        // The three numbers of the body come before the progress here, unlike in DOWNLOAD.
        let head = try ChangesetBody.Head(from: &reader, limits: context.limits)
        let progress = UploadCursor(
            clientVersion: ClientVersion(try reader.readNumber("progress client version")),
            lastIntegratedServerVersion: ServerVersion(
                try reader.readNumber("progress server version")
            )
        )
        let locked = ServerVersion(
            try reader.readNumber("locked server version", endingWith: .newline)
        )
        let body = try head.readBody(from: &reader)
        self.init(
            session: session,
            progress: progress,
            lockedServerVersion: locked,
            changesets: try UploadChangeset.entries(
                of: body,
                atMost: context.limits.changesetsPerUpload
            )
        )
    }

    fileprivate func encoded() -> [UInt8] {
        let body = ChangesetBody(UploadChangeset.body(of: changesets))
        var writer = HeadWriter(
            ClientMessage.Name.upload.rawValue,
            reserving: body.bytes.count + 128
        )
        writer.writeField(session)
        body.writeHead(to: &writer)
        writer.writeField(progress.clientVersion.rawValue)
        writer.writeField(progress.lastIntegratedServerVersion.rawValue)
        writer.writeField(lockedServerVersion.rawValue)
        writer.endHead()
        writer.write(body.bytes)
        return writer.bytes
    }
}
