import Changesets
import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing
import Versions

@Suite("The client half of a session")
struct ClientSessionTests {
    /// A session of a file that synced before: ident 2, progress (3, 2) both ways, local version 6.
    static func resumed(
        uploadActivation: ClientSession.UploadActivation = .afterDownload
    ) -> ClientSession {
        ClientSession(
            ident: 1,
            path: "\"p\"",
            fileIdent: fileIdent(2),
            progress: progress(latest: 3, download: (3, 2), upload: (2, 1)),
            localVersion: ClientVersion(6),
            uploadActivation: uploadActivation
        )
    }

    /// The same, connected and identified, with the first MARK out.
    static func running() -> ClientSession {
        var session = resumed()
        session.connected(isFastReconnect: false)
        for _ in 0..<3 { _ = session.nextStep() }
        return session
    }

    static let steady = progress(latest: 3, download: (3, 2), upload: (2, 1))

    private func names(_ session: inout ClientSession) -> [String] {
        var names: [String] = []
        while let step = session.nextStep() {
            switch step {
            case .send(let message): names.append(message.name)
            case .scanUploads: names.append("scan")
            }
        }
        return names
    }

    @Test("A new file requests an ident and sends it only once it is stored")
    func newFile() {
        var session = ClientSession(
            ident: 4,
            path: "\"p\"",
            fileIdent: .none,
            progress: .zero,
            localVersion: ClientVersion(1)
        )
        #expect(session.nextStep() == nil)
        session.connected(isFastReconnect: false)
        #expect(
            session.nextStep()
                == .send(.bind(.init(session: 4, path: "\"p\"", needsFileIdent: true)))
        )
        #expect(session.nextStep() == nil)
        #expect(session.received(.ident(4, fileIdent(2))) == [.storeFileIdent(fileIdent(2))])
        #expect(session.nextStep() == nil)
        session.fileIdentStored(fileIdent(2), localVersion: ClientVersion(2))
        guard case .send(.ident(let ident)) = session.nextStep() else {
            Issue.record("no IDENT")
            return
        }
        #expect(ident.file == fileIdent(2))
        #expect(ident.download == .zero)
        #expect(session.nextStep() == .send(.mark(4, RequestIdent(1))))
        #expect(session.nextStep() == nil)
    }

    @Test("A connection lost while the ident is stored does not request a second one")
    func identStoredOffline() {
        var session = ClientSession(
            ident: 1,
            path: "\"p\"",
            fileIdent: .none,
            progress: .zero,
            localVersion: ClientVersion(1)
        )
        session.connected(isFastReconnect: false)
        _ = session.nextStep()
        _ = session.received(.ident(1, fileIdent(2)))
        session.disconnected()
        session.connected(isFastReconnect: true)
        #expect(session.nextStep() == nil)
        session.fileIdentStored(fileIdent(2), localVersion: ClientVersion(2))
        #expect(
            session.nextStep()
                == .send(.bind(.init(session: 1, path: "\"p\"", needsFileIdent: false)))
        )
    }

    @Test("Uploads wait for the first MARK, and for all downloads before it")
    func uploadsWait() {
        var session = Self.running()
        #expect(session.nextStep() == nil)
        let more = progress(latest: 4, download: (4, 2), upload: (2, 1))
        let effects = session.received(download(1, more, [downloadChangeset(4, 2)]))
        #expect(effects.count == 1)
        #expect(session.received(.mark(1, RequestIdent(1))) == [])
        #expect(session.nextStep() == nil)
        #expect(session.integrated(more, localVersion: ClientVersion(7)) == [.downloadCompleted])
        let scan = session.nextStep()
        guard case .scanUploads(let request) = scan else {
            Issue.record("\(String(describing: scan))")
            return
        }
        #expect(request.cursor == uploadCursor(2, 1))
        #expect(request.end == ClientVersion(7))
    }

    @Test("A server that was put back from a backup gets lost UPLOADs again")
    func serverPutBack() throws {
        let back = progress(latest: 3, download: (3, 2), upload: (3, 1))
        var session = ClientSession(
            ident: 1,
            path: "\"p\"",
            fileIdent: fileIdent(2),
            progress: progress(latest: 3, download: (3, 2), upload: (5, 3)),
            localVersion: ClientVersion(6),
            uploadActivation: .immediate
        )
        session.connected(isFastReconnect: false)
        #expect(names(&session) == ["BIND", "IDENT", "scan"])
        guard case .integrate(let first) = session.received(download(1, back)).first else {
            Issue.record("not accepted")
            return
        }
        #expect(first.isFirst)
        _ = session.integrated(back, localVersion: ClientVersion(7))
        guard case .scanUploads(let again) = session.nextStep() else {
            Issue.record("no second scan")
            return
        }
        #expect(again.cursor == uploadCursor(3, 1))
        let further = progress(latest: 3, download: (3, 2), upload: (2, 1))
        #expect(
            session.received(download(1, further))
                == [.close(.download(.uploadClientVersionDecreased))]
        )
    }

    @Test("After a fast reconnect nothing is held back, and no MARK is sent")
    func fastReconnect() {
        var session = Self.running()
        _ = session.received(download(1, Self.steady))
        _ = session.integrated(Self.steady, localVersion: ClientVersion(6))
        _ = session.received(.mark(1, RequestIdent(1)))
        session.disconnected()
        session.connected(isFastReconnect: true)
        #expect(names(&session) == ["BIND", "IDENT", "scan"])
        session.disconnected()
        session.connected(isFastReconnect: false)
        #expect(names(&session) == ["BIND", "IDENT", "MARK"])
    }

    @Test("An unanswered MARK is sent again after a reconnect")
    func markAgain() {
        var session = Self.running()
        session.disconnected()
        session.connected(isFastReconnect: true)
        #expect(names(&session) == ["BIND", "IDENT", "MARK"])
        #expect(session.awaitsDownloadCompletion)
    }

    @Test("A scan that finds nothing is sent only if it acknowledges something")
    func emptyUploads() {
        var session = Self.resumed(uploadActivation: .immediate)
        session.connected(isFastReconnect: false)
        _ = session.nextStep()
        _ = session.nextStep()
        guard case .scanUploads(let first) = session.nextStep() else {
            Issue.record("no scan")
            return
        }
        // The server has (2, 1) and the file integrated version 3.
        let nothing = UploadBatch(
            changesets: [],
            progress: uploadCursor(6, 3),
            lockedServerVersion: ServerVersion(3)
        )
        session.uploadScanned(first, nothing)
        #expect(session.nextStep() == .send(.upload(upload((6, 3), locked: 3))))
        #expect(session.nextStep() == nil)
        // An own commit without content: nothing to send.
        session.localVersionAvailable(ClientVersion(7))
        guard case .scanUploads(let second) = session.nextStep() else {
            Issue.record("no scan")
            return
        }
        #expect(second.cursor == uploadCursor(6, 3))
        session.uploadScanned(
            second,
            UploadBatch(
                changesets: [],
                progress: uploadCursor(7, 3),
                lockedServerVersion: ServerVersion(3)
            )
        )
        #expect(session.nextStep() == nil)
    }

    @Test("A scan without changesets that ends below the newest version is not reported")
    func limitedScan() {
        var session = Self.resumed(uploadActivation: .immediate)
        session.connected(isFastReconnect: false)
        _ = session.nextStep()
        _ = session.nextStep()
        guard case .scanUploads(let first) = session.nextStep() else {
            Issue.record("no scan")
            return
        }
        session.uploadScanned(
            first,
            UploadBatch(
                changesets: [],
                progress: first.cursor,
                reached: uploadCursor(6, 1),
                lockedServerVersion: ServerVersion(3)
            )
        )
        #expect(session.nextStep() == nil)
        session.localVersionAvailable(ClientVersion(7))
        guard case .scanUploads(let second) = session.nextStep() else {
            Issue.record("no scan")
            return
        }
        #expect(second.cursor == uploadCursor(6, 1))
    }

    @Test("A scan of an earlier binding is dropped")
    func staleScan() {
        var session = Self.resumed(uploadActivation: .immediate)
        session.connected(isFastReconnect: false)
        _ = session.nextStep()
        _ = session.nextStep()
        guard case .scanUploads(let scan) = session.nextStep() else {
            Issue.record("no scan")
            return
        }
        session.disconnected()
        session.connected(isFastReconnect: true)
        session.uploadScanned(
            scan,
            UploadBatch(
                changesets: [uploadChangeset(6, 1)],
                progress: uploadCursor(6, 1),
                lockedServerVersion: ServerVersion(3)
            )
        )
        #expect(names(&session) == ["BIND", "IDENT", "scan"])
    }

    @Test("An acknowledgement beyond what was sent on this connection moves the scan")
    func acknowledgedAhead() {
        var session = Self.resumed(uploadActivation: .immediate)
        session.connected(isFastReconnect: false)
        _ = session.nextStep()
        _ = session.nextStep()
        guard case .scanUploads(let scan) = session.nextStep() else {
            Issue.record("no scan")
            return
        }
        let ahead = progress(latest: 3, download: (3, 2), upload: (5, 3))
        _ = session.received(download(1, ahead))
        _ = session.integrated(ahead, localVersion: ClientVersion(7))
        session.uploadScanned(
            scan,
            UploadBatch(
                changesets: [uploadChangeset(4, 1)],
                progress: uploadCursor(6, 1),
                lockedServerVersion: ServerVersion(3)
            )
        )
        guard case .scanUploads(let again) = session.nextStep() else {
            Issue.record("no second scan")
            return
        }
        #expect(again.cursor == uploadCursor(5, 3))
    }

    @Test("A failed integration is reported once, and then nothing is sent or integrated")
    func integrationFailure() {
        var session = Self.running()
        _ = session.received(download(1, Self.steady))
        let failure = IntegrationFailure(.badChangeset, message: "BadChangeset: no")
        session.integrationFailed(failure)
        session.requestDownloadCompletion()
        #expect(
            session.nextStep()
                == .send(.jsonError(ClientErrorReport(session: 1, failure: failure)))
        )
        #expect(session.nextStep() == nil)
        #expect(session.received(download(1, Self.steady)) == [])
        // The server's error, and a new binding, end that.
        _ = session.received(sessionError(.sessionClosed))
        session.resume()
        #expect(names(&session) == ["UNBIND", "BIND", "IDENT", "MARK"])
    }

    @Test("A local interruption is not reported, and the download repeats with a new binding")
    func integrationInterrupted() {
        var session = Self.running()
        _ = session.received(download(1, Self.steady))
        session.integrationInterrupted()
        session.requestDownloadCompletion()
        #expect(session.nextStep() == nil)
        #expect(session.received(download(1, Self.steady)) == [])
        session.disconnected()
        session.connected(isFastReconnect: true)
        #expect(names(&session) == ["BIND", "IDENT", "MARK"])
        #expect(session.received(download(1, Self.steady)).count == 1)
    }

    @Test("An error suspends the session until it is resumed under the same ident")
    func suspension() throws {
        var session = Self.running()
        var random = SplitMix64(seed: 1)
        let effects = session.received(sessionError(.sessionClosed))
        guard case .suspend(let problem) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(problem.code == 200)
        #expect(problem.status == .connectionClosed)
        #expect(session.isSuspended)
        #expect(!session.wantsConnection)
        #expect(session.resumeDelay(using: &random) == .seconds(1))
        #expect(names(&session) == ["UNBIND"])
        session.resume()
        // The hold on uploads, not yet lifted, stays; no second MARK is requested.
        #expect(names(&session) == ["BIND", "IDENT", "MARK"])
    }

    @Test("Without another try the session stays suspended")
    func finalError() {
        var session = Self.running()
        var random = SplitMix64(seed: 1)
        _ = session.received(sessionError(.badClientFileIdent))
        #expect(session.resumeDelay(using: &random) == nil)
        #expect(names(&session) == ["UNBIND"])
        session.disconnected()
        session.connected(isFastReconnect: true)
        #expect(session.nextStep() == nil)
    }

    @Test("The server's delays replace ours, and grow")
    func delays() {
        var session = Self.running()
        var random = SplitMix64(seed: 1)
        for expected in [10, 30, 50, 50] {
            let backoff = JSONErrorBody.Backoff(
                initialInSeconds: 10,
                maximumInSeconds: 50,
                multiplier: 3
            )
            let report = JSONErrorReport(.otherError, session: 1, message: "m", backoff: backoff)
            _ = session.received(.jsonError(report))
            let delay = session.resumeDelay(using: &random) ?? .zero
            #expect(delay <= .seconds(expected))
            #expect(delay >= .seconds(expected) * 3 / 4)
            session.resume()
            #expect(names(&session).starts(with: ["UNBIND", "BIND", "IDENT"]))
        }
    }

    @Test("An orderly end waits for UNBOUND, or an error in its place")
    func deactivation() {
        for answer in [ServerMessage.unbound(1), sessionError(.otherError)] {
            var session = Self.running()
            session.deactivate()
            #expect(names(&session) == ["UNBIND"])
            #expect(session.received(download(1, Self.steady)) == [])
            #expect(session.received(.mark(1, RequestIdent(1))) == [])
            #expect(!session.isEnded)
            #expect(session.received(answer) == [])
            #expect(session.isEnded)
        }
    }

    @Test("An end before BIND, or a lost connection, completes at once")
    func shortEnds() {
        var early = Self.resumed()
        early.deactivate()
        #expect(early.isEnded)
        var lost = Self.running()
        lost.deactivate()
        lost.disconnected()
        #expect(lost.isEnded)
        var refused = Self.running()
        _ = refused.received(sessionError(.permissionDenied))
        refused.deactivate()
        #expect(names(&refused) == ["UNBIND"])
        #expect(refused.isEnded)
    }

    @Test("A rejected write is reported when the version that undoes it is integrated")
    func compensation() {
        var session = Self.running()
        let rejected = SessionFault.RejectedUpdates(
            clientVersion: ClientVersion(5),
            updates: [RejectedUpdate(className: "Task", key: .int(1), reason: "no")]
        )
        let fault = SessionFault.compensatingWrite(rejected, undoneAt: ServerVersion(4))
        guard case .undoing? = session.received(sessionError(fault)).first else {
            Issue.record("reported before the row is undone")
            return
        }
        #expect(session.wantsConnection)
        let before = Self.steady
        _ = session.received(download(1, before))
        #expect(session.integrated(before, localVersion: ClientVersion(7)) == [])
        let undoing = progress(latest: 4, download: (4, 5), upload: (5, 3))
        _ = session.received(download(1, undoing, [downloadChangeset(4, 5)]))
        let effects = session.integrated(undoing, localVersion: ClientVersion(8))
        guard case .report(let problem) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(problem.status == .syncCompensatingWrite)
        #expect(problem.details == .compensated(rejected, undoneAt: ServerVersion(4)))
    }

    @Test("A new binding waits until what is being integrated is stored")
    func bindingWaits() {
        var session = Self.running()
        let more = progress(latest: 4, download: (4, 2), upload: (2, 1))
        _ = session.received(download(1, more, [downloadChangeset(4, 2)]))
        session.disconnected()
        session.connected(isFastReconnect: true)
        #expect(session.nextStep() == nil)
        _ = session.integrated(more, localVersion: ClientVersion(7))
        _ = session.nextStep()
        guard case .send(.ident(let ident)) = session.nextStep() else {
            Issue.record("no IDENT")
            return
        }
        #expect(ident.download == downloadCursor(4, 2))
    }

    @Test("A message out of order closes the connection")
    func violations() {
        func closes(_ session: ClientSession, _ message: ServerMessage) -> Bool {
            var session = session
            if case .close = session.received(message).first { return true }
            return false
        }
        var bound = Self.resumed()
        bound.connected(isFastReconnect: false)
        _ = bound.nextStep()
        let running = Self.running()
        #expect(closes(bound, .ident(1, fileIdent(2))))
        #expect(closes(bound, download(1, Self.steady)))
        #expect(closes(bound, .mark(1, RequestIdent(1))))
        #expect(closes(running, .ident(1, fileIdent(2))))
        #expect(closes(running, .unbound(1)))
        #expect(closes(running, .mark(1, RequestIdent(2))))
        #expect(closes(running, .testCommand(1, RequestIdent(1), json: "{}")))
        #expect(
            closes(running, .queryError(1, .init(code: 226, message: "", version: .zero)))
        )
        #expect(closes(running, download(1, progress(latest: 2))))
        var answered = running
        _ = answered.received(.mark(1, RequestIdent(1)))
        #expect(closes(answered, .mark(1, RequestIdent(1))))
        var refused = running
        _ = refused.received(sessionError(.otherError))
        #expect(closes(refused, download(1, Self.steady)))
        #expect(closes(refused, sessionError(.otherError)))
        #expect(!closes(running, download(1, Self.steady)))
    }

    @Test(
        "Codes that do not fit a session close the connection; unknown ones are handled by their action"
    )
    func errorCodes() throws {
        func received(_ code: Int) throws -> ClientSession.Effect? {
            let json = """
                {"message":"m","logURL":"","tryAgain":false,"shouldClientReset":false,\
                "isRecoveryModeDisabled":false,"action":"ClientReset"}
                """
            let bytes = Array("json_error \(code) \(json.utf8.count) 1\n\(json)".utf8)
            var session = Self.running()
            let message = try ServerMessage(decoding: bytes, context: .partitionClient)
            return session.received(message).first
        }
        for code in [100, 104, 113] {
            #expect(try received(code) == .close(.badErrorCode(code)))
        }
        for code in [199, 299, 7, -3] {
            guard case .suspend(let problem) = try received(code) else {
                Issue.record("\(code) does not suspend")
                continue
            }
            #expect(problem.status == .unknownError)
            #expect(problem.action == .clientReset)
            #expect(problem.message == "Unknown sync protocol error code \(code): m")
        }
        // A released client would end its process here.
        for code in [202, 205, 219] {
            guard case .suspend = try received(code) else {
                Issue.record("\(code) does not suspend")
                continue
            }
        }
    }

    @Test("A plain ERROR suspends, without an action")
    func plainError() throws {
        var session = Self.running()
        let bytes = Array("error 208 3 0 1\nbad".utf8)
        let message = try ServerMessage(decoding: bytes, context: .partitionClient)
        guard case .suspend(let problem) = session.received(message).first else {
            Issue.record("not suspended")
            return
        }
        #expect(problem.action == nil)
        #expect(problem.status == .syncClientResetRequired)
        #expect(!problem.tryAgain)
    }

    @Test("Random messages in random states never trap")
    func anything() {
        for seed in UInt64(0)..<300 {
            var random = SplitMix64(seed: seed)
            var session = seed.isMultiple(of: 2) ? Self.running() : Self.resumed()
            for _ in 0..<60 { disturb(&session, using: &random) }
        }
    }

    private func disturb(_ session: inout ClientSession, using random: inout SplitMix64) {
        func number() -> UInt64 { UInt64.random(in: 0...4, using: &random) }
        let some = progress(
            latest: number() + 2,
            download: (number(), number()),
            upload: (number(), number())
        )
        switch Int.random(in: 0..<14, using: &random) {
        case 0: _ = session.received(.ident(1, fileIdent(number(), salt: number())))
        case 1: _ = session.received(download(1, some, [downloadChangeset(number(), number())]))
        case 2: _ = session.received(.mark(1, RequestIdent(number())))
        case 3: _ = session.received(sessionError(.otherError))
        case 4: _ = session.received(.unbound(1))
        case 5: session.connected(isFastReconnect: Bool.random(using: &random))
        case 6: session.disconnected()
        case 7: session.resume()
        case 8: _ = session.resumeDelay(using: &random)
        case 9: session.requestDownloadCompletion()
        case 10: session.localVersionAvailable(ClientVersion(number()))
        case 11: _ = session.integrated(some, localVersion: ClientVersion(number()))
        case 12: session.integrationFailed(IntegrationFailure(.other, message: ""))
        default:
            if case .scanUploads(let scan) = session.nextStep() {
                session.uploadScanned(
                    scan,
                    UploadBatch(
                        changesets: [],
                        progress: some.upload,
                        lockedServerVersion: .zero
                    )
                )
            }
        }
    }
}
