import Changesets
import Logging
import SyncProtocol
import Versions

/// Messages of the protocol in the log: names, cursors and sizes, never their content.
extension Logger {
    func sent(_ message: ClientMessage) {
        debug(
            "message sent",
            metadata: ["name": "\(message.name)"].merging(message.logFields) { $1 }
        )
    }

    func received(_ message: ServerMessage) {
        debug(
            "message received",
            metadata: ["name": "\(message.name)"].merging(message.logFields) { $1 }
        )
    }
}

extension ClientMessage {
    /// The details that a person needs to follow the exchange.
    fileprivate var logFields: Logger.Metadata {
        switch self {
        case .bind(let bind):
            return ["needs_ident": "\(bind.needsFileIdent)"]
        case .ident(let ident):
            var fields = ident.download.logFields
            fields["ident"] = "\(ident.file.ident.rawValue)"
            fields["latest_server_version"] = "\(ident.latestServerVersion.version.rawValue)"
            if let query = ident.query { fields["query_version"] = "\(query.version.rawValue)" }
            return fields
        case .query(_, let query):
            return [
                "query_version": "\(query.version.rawValue)", "bytes": "\(query.body.bytes.count)",
            ]
        case .upload(let upload):
            var fields = upload.progress.logFields
            fields["locked_server_version"] = "\(upload.lockedServerVersion.rawValue)"
            fields["changesets"] = "\(upload.changesets.count)"
            fields["bytes"] = "\(upload.changesets.reduce(0) { $0 + $1.bytes.count })"
            return fields
        case .mark(_, let request), .testCommand(_, let request, _):
            return ["request": "\(request.rawValue)"]
        case .jsonError(let report):
            return ["server_code": "\(report.code)"]
        case .ping(let ping):
            return ["round_trip_ms": "\(ping.roundTripInMilliseconds)"]
        case .unbind:
            return [:]
        }
    }
}

extension ServerMessage {
    fileprivate var logFields: Logger.Metadata {
        switch self {
        case .ident(_, let file):
            return ["ident": "\(file.ident.rawValue)"]
        case .download(let download):
            var fields = download.progress.download.logFields
            fields.merge(download.progress.upload.logFields) { $1 }
            let latest = download.progress.latestServerVersion.version
            fields["latest_server_version"] = "\(latest.rawValue)"
            fields["changesets"] = "\(download.changesets.count)"
            fields["bytes"] = "\(download.changesets.reduce(0) { $0 + $1.bytes.count })"
            switch download.extent {
            case .partition(let rest):
                fields["downloadable_bytes"] = "\(rest)"
            case .query(let version, let batch, let estimate):
                fields["query_version"] = "\(version.rawValue)"
                fields["batch"] = "\(batch)"
                fields["percent"] = "\(estimate.tenThousandths / 100)"
            }
            return fields
        case .mark(_, let request), .testCommand(_, let request, _):
            return ["request": "\(request.rawValue)"]
        case .error(let report):
            return ["server_code": "\(report.code)"]
        case .jsonError(let report):
            return ["server_code": "\(report.code)", "action": "\(report.body.action.rawValue)"]
        case .queryError(_, let error):
            return [
                "server_code": "\(error.code)", "query_version": "\(error.version.rawValue)",
            ]
        case .unbound, .pong, .logMessage:
            return [:]
        }
    }
}

extension DownloadCursor {
    /// The server version downloaded, and the client version that the server had integrated before it.
    fileprivate var logFields: Logger.Metadata {
        [
            "download_server_version": "\(serverVersion.rawValue)",
            "download_client_version": "\(lastIntegratedClientVersion.rawValue)",
        ]
    }
}

extension UploadCursor {
    /// The client version uploaded, and the server version that the client had integrated before it.
    fileprivate var logFields: Logger.Metadata {
        [
            "upload_client_version": "\(clientVersion.rawValue)",
            "upload_server_version": "\(lastIntegratedServerVersion.rawValue)",
        ]
    }
}
