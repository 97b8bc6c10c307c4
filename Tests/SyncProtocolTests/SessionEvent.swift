import Changesets
import ScriptedPeers
import SyncProtocol
import Versions

/// A message to a client session or a local event, named as in `ClientSessionTableTests`.
enum SessionEvent: String, CaseIterable {
    case ident = "IDENT"
    case badIdent = "bad IDENT"
    case download = "DOWNLOAD"
    case badDownload = "bad DOWNLOAD"
    case flexibleDownload = "flexible DOWNLOAD"
    case mark = "MARK"
    case badMark = "bad MARK"
    case unbound = "UNBOUND"
    case error = "ERROR"
    case jsonError = "JSON_ERROR"
    /// The code concerns a connection.
    case connectionError = "error 101"
    case compensatingWrite = "error 231"
    case schemaChanged = "error 236"
    case logMessage = "LOG_MESSAGE"
    case queryError = "QUERY_ERROR"
    case testCommand = "TEST_COMMAND"
    case pong = "PONG"

    case connected
    /// Connected soon after the connection was lost.
    case reconnected
    case disconnected
    case deactivate
    case resume
    case resumeDelay

    case nextStep
    /// The next turn shows the state that these change.
    case requestCompletion
    case localVersionAvailable
    case uploadScanned

    case fileIdentStored
    case integrated
    /// With the answer to the MARK behind the download.
    case integratedMarked = "integrated +MARK"
    /// It undoes a rejected write.
    case integratedUndo = "integrated +231"
    case integrationFailed
    case integrationInterrupted

    /// The story that an event needs in place of a usual one.
    func story(for story: ScriptedSession.Story) -> ScriptedSession.Story {
        switch (self, story) {
        case (.localVersionAvailable, .known): .uploaded
        case (.uploadScanned, .known): .scanning
        case (.integratedMarked, .integrating): .integratingMarked
        case (.integratedUndo, .integrating): .integratingUndo
        default: story
        }
    }

    /// Triggers the event, and names its effects; nil if it answers a request that was not made.
    func happen(to session: inout ScriptedSession) -> [String]? {
        switch self {
        case .ident, .badIdent, .download, .badDownload, .flexibleDownload, .mark, .badMark,
            .unbound, .error, .jsonError, .connectionError, .compensatingWrite, .schemaChanged,
            .logMessage, .queryError, .testCommand, .pong:
            return message.map { session.receive($0) }
        case .connected: session.session.connected(isFastReconnect: false)
        case .reconnected: session.session.connected(isFastReconnect: true)
        case .disconnected: session.session.disconnected()
        case .deactivate: session.session.deactivate()
        case .resume: session.session.resume()
        case .resumeDelay: return session.resumeDelay() == nil ? [] : ["delay"]
        case .nextStep: return session.takeTurn()
        case .requestCompletion:
            session.session.requestDownloadCompletion()
            return session.takeTurn()
        case .localVersionAvailable:
            session.session.localVersionAvailable(ClientVersion(9))
            return session.takeTurn()
        case .uploadScanned:
            session.finishScan()
            return session.takeTurn()
        case .fileIdentStored: return session.storeFileIdent()
        case .integrated, .integratedMarked, .integratedUndo: return session.integrate()
        case .integrationFailed: return session.failIntegration()
        case .integrationInterrupted: return session.interruptIntegration()
        }
        return []
    }

    private var message: ServerMessage? {
        switch self {
        case .ident: .ident(1, fileIdent(2))
        case .badIdent: .ident(1, fileIdent(0, salt: 0))
        case .download: SyncProtocolTests.download(1, ScriptedSession.progress5)
        case .badDownload: SyncProtocolTests.download(1, progress(latest: 2))
        case .flexibleDownload: flexible
        case .mark: .mark(1, RequestIdent(1))
        case .badMark: .mark(1, RequestIdent(7))
        case .unbound: .unbound(1)
        case .error: plainError(208)
        case .jsonError: sessionError(.sessionClosed)
        case .connectionError: plainError(101)
        case .compensatingWrite: sessionError(ScriptedSession.compensatingWrite)
        case .schemaChanged: sessionError(.schemaVersionChanged(previous: 1))
        case .logMessage: .logMessage(1, LogMessageBody(level: .info, message: "m"))
        case .queryError: .queryError(1, .init(code: 226, message: "", version: .zero))
        case .testCommand: .testCommand(1, RequestIdent(1), json: "{}")
        case .pong: .pong(timestampInMilliseconds: 1)
        default: nil
        }
    }

    private var flexible: ServerMessage {
        .download(
            ServerMessage.Download(
                session: 1,
                progress: ScriptedSession.progress5,
                extent: .query(.zero, .steady, .complete),
                changesets: []
            )
        )
    }

    private func plainError(_ code: Int) -> ServerMessage? {
        let bytes = Array("error \(code) 3 0 1\nbad".utf8)
        return try? ServerMessage(decoding: bytes, context: .partitionClient)
    }
}
