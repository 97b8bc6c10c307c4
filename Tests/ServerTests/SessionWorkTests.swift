import Changesets
import SyncProtocol
import Testing
import Versions

@testable import ServerHTTP
@testable import ServerStore
@testable import SyncServer

@Suite("The work of a connection's sessions")
struct SessionWorkTests {
    /// Session keys come from the machine only.
    private func keys(_ count: Int) -> [SessionWork.SessionKey] {
        var machine = ServerConnection(subProtocol: SubProtocol(mode: .partitionBased, version: 9))
        return (1...UInt64(count)).compactMap { number in
            SessionIdent(number).flatMap { session -> SessionWork.SessionKey? in
                let effects = machine.received(
                    .bind(.init(session: session, path: "\"a\"", needsFileIdent: true))
                )
                guard case .work(let key, .open)? = effects.first else { return nil }
                return key
            }
        }
    }

    private func admitted(
        _ version: UInt64,
        sizeInBytes: Int? = nil
    ) throws -> SessionStep {
        // Not parsed here.
        let bytes = sizeInBytes.map { [UInt8](repeating: 0, count: $0) } ?? Tasks.schema
        var check = UploadCheck(threshold: .zero, lockedServerVersion: .zero)
        let message = ClientMessage.Upload(
            session: 1,
            progress: uploadCursor(version, 0),
            lockedServerVersion: .zero,
            changesets: [upload(version, on: 0, at: 1000, bytes)]
        )
        return .integrate([try #require(try check.admit(message, sent: .zero))])
    }

    private func clientVersions(_ work: inout SessionWork, of key: SessionWork.SessionKey)
        -> [UInt64]
    {
        var versions: [UInt64] = []
        while let (step, _) = work.next(of: key) {
            if case .integrate(let uploads) = step {
                versions += uploads.map(\.progress.clientVersion.rawValue)
            }
            work.finished(step)
        }
        return versions
    }

    private let scan = SessionStep.scanDownload(from: .zero)

    @Test("Empty uploads also count, until they are integrated")
    func emptyUploads() throws {
        let key = keys(1)[0]
        var work = SessionWork()
        work.begin(key)
        let nothing = SessionStep.integrate([
            .init(changesets: [], progress: uploadCursor(2, 0), lockedServerVersion: .zero)
        ])
        for _ in 0..<1000 { _ = work.enqueue(nothing, for: key) }
        #expect(work.backlogInBytes >= 100_000)
        while let (step, _) = work.next(of: key) { work.finished(step) }
        #expect(work.backlogInBytes == 0)
    }

    @Test("One worker carries out the steps of a session in order")
    func order() throws {
        let key = keys(1)[0]
        var work = SessionWork()
        work.begin(key)
        #expect(work.enqueue(try admitted(2), for: key))
        #expect(!work.enqueue(try admitted(3), for: key))
        #expect(work.backlogInBytes == 2 * (try admitted(2)).uploadSizeInBytes)
        #expect(clientVersions(&work, of: key) == [2, 3])
        #expect(work.backlogInBytes == 0)
        // It has stopped: the next step needs a new one.
        #expect(work.enqueue(try admitted(4), for: key))
    }

    @Test("Uploads that follow each other are one step, up to a size and to the next scan")
    func uploadsAtOnce() throws {
        let key = keys(1)[0]
        var work = SessionWork()
        work.begin(key)
        for version in UInt64(2)...3 { _ = work.enqueue(try admitted(version), for: key) }
        _ = work.enqueue(scan, for: key)
        _ = work.enqueue(try admitted(4, sizeInBytes: 700_000), for: key)
        _ = work.enqueue(try admitted(5, sizeInBytes: 700_000), for: key)
        var steps: [[UInt64]] = []
        while let (step, _) = work.next(of: key) {
            if case .integrate(let uploads) = step {
                steps.append(uploads.map(\.progress.clientVersion.rawValue))
            } else {
                steps.append([])
            }
            work.finished(step)
        }
        #expect(steps == [[2, 3], [], [4], [5]])
        #expect(work.backlogInBytes == 0)
    }

    @Test("After a failed upload no other of the session is integrated")
    func failure() throws {
        let key = keys(1)[0]
        var work = SessionWork()
        work.begin(key)
        _ = work.enqueue(try admitted(2), for: key)
        _ = work.enqueue(try admitted(3), for: key)
        let next = work.next(of: key)
        let first = try #require(next)
        work.fail(key)
        work.finished(first.step)
        #expect(!work.enqueue(try admitted(4), for: key))
        #expect(clientVersions(&work, of: key).isEmpty)
        #expect(work.backlogInBytes == 0)
    }

    @Test("Uploads before UNBIND are integrated, and then the session is removed")
    func end() throws {
        let key = keys(1)[0]
        var work = SessionWork()
        work.begin(key)
        _ = work.enqueue(scan, for: key)
        _ = work.enqueue(try admitted(2), for: key)
        _ = work.enqueue(scan, for: key)
        work.end(key)
        #expect(work[key]?.hasEnded == true)
        #expect(!work.enqueue(try admitted(3), for: key))
        #expect(clientVersions(&work, of: key) == [2])
        #expect(work[key] == nil)
        #expect(work.backlogInBytes == 0)
    }

    @Test("A session without work ends at once, others stay")
    func idleEnd() {
        let both = keys(2)
        var work = SessionWork()
        for key in both { work.begin(key) }
        work.end(both[0])
        #expect(work[both[0]] == nil)
        #expect(work[both[1]] != nil)
    }
}

@Suite("The memory budgets of all connections")
struct BodyBudgetTests {
    @Test("Room is given back, and one body always fits")
    func budget() {
        let budget = BodyBudget(limitInBytes: 100)
        #expect(budget.take(1000))
        #expect(!budget.take(1))
        budget.change(by: -1000)
        #expect(budget.take(60))
        #expect(!budget.take(41))
        #expect(budget.take(40))
        budget.change(by: -100)
        #expect(budget.take(1000))
    }

    @Test("Uploads that wait are full at the limit, and refused at twice the limit")
    func backlog() {
        let limit = ConnectionLimits.uploadsOfAllInBytes
        let backlog = UploadBacklog()
        #expect(backlog.admits(.max))
        backlog.change(by: limit - 1)
        #expect(!backlog.isFull)
        backlog.change(by: 1)
        #expect(backlog.isFull)
        #expect(backlog.admits(limit))
        #expect(!backlog.admits(limit + 1))
        backlog.change(by: -limit)
        #expect(!backlog.isFull)
        #expect(backlog.admits(.max))
    }
}
