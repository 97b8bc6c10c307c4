import ClientReset
import Coordination
import ScriptedPeers
import SyncProtocol
import Testing
import Transport

@testable import SyncClient

/// Client reset, 2.
@Suite("What makes a client reset necessary, against a scripted server", .timeLimit(.minutes(10)))
struct ResetWishTests {
    /// A server that answers the IDENT with this error.
    private func refusing(_ fault: SessionFault) -> ScriptedEndpoint {
        ScriptedEndpoint { server in
            guard case .bind(let bind) = try await server.receive() else { return }
            try await server.send(.ident(bind.session, RealmOnConnection.file))
            _ = try await server.receive()
            let report = JSONErrorReport(fault, session: bind.session, message: "moved")
            try await server.send(.jsonError(report))
            try await server.listen()
        }
    }

    @Test("A connection closed over too big a message requests a reset of the uploading realm")
    func messageTooBigIsReset() async throws {
        let endpoint = ScriptedEndpoint { server in
            _ = try await server.open(RealmOnConnection.file)
            await server.stream.close(.messageTooBig, reason: "too big")
        }
        try await RealmOnConnection.withRealm(endpoint) { realm, _ in
            await realm.asksForResets()
            #expect(await realm.resetWanted.wait())
            let cause = await realm.resetCause
            #expect(cause?.action == .clientReset)
            #expect(cause?.code == 1009)
        }
    }

    @Test("Migrations are resets with a switch of the mode, and are reported as such")
    func migrations() async throws {
        for (fault, action) in [
            (
                SessionFault.migrateToFlexibleSync(partitionQuery: "p == 1"),
                ResetAction.migrateToFlexibleSync
            ),
            (.revertToPartitionBasedSync, .revertToPartitionBasedSync),
        ] {
            try await RealmOnConnection.withRealm(refusing(fault)) { realm, _ in
                await realm.asksForResets()
                #expect(await realm.resetWanted.wait())
                #expect(await realm.resetCause?.action == action)
                #expect(await realm.removalIssue == nil)
            }
        }
    }

    @Test(
        "A reset needs a known action; the code alone, or an unknown action, requests none",
        arguments: ["ApplicationBug", "ClientResetOfTomorrow", ""]
    )
    func codeAlone(action: String) async throws {
        let endpoint = ScriptedEndpoint { server in
            guard case .bind(let bind) = try await server.receive() else { return }
            try await server.send(.ident(bind.session, RealmOnConnection.file))
            _ = try await server.receive()
            if action.isEmpty {
                // A plain ERROR names no action.
                let text = "Bad client file identifier"
                let message = "error 208 \(text.utf8.count) 0 \(bind.session.rawValue)\n\(text)"
                try await server.stream.send(Array(message.utf8))
            } else {
                try await server.sendError(208, action: action, tryAgain: false, bind.session)
            }
            try await server.listen()
        }
        try await RealmOnConnection.withRealm(endpoint) { realm, _ in
            await realm.asksForResets()
            let outcome = await realm.sync(timeout: .seconds(180), .continuous)
            guard case .refused(let issue) = outcome else {
                Issue.record("unexpected \(outcome)")
                return
            }
            #expect(issue.code == "sync.bad_client_file_ident")
            #expect(await realm.resetCause == nil)
            #expect(await realm.removalIssue == nil)
        }
    }

    @Test("DeleteRealm is not a reset: waiters get it, and so does the part that removes the file")
    func deleteRealm() async throws {
        for fault in [SessionFault.permissionDenied, .userMismatch] {
            try await RealmOnConnection.withRealm(refusing(fault)) { realm, _ in
                await realm.asksForResets()
                #expect(await realm.resetWanted.wait())
                #expect(await realm.resetCause == nil)
                #expect(await realm.removalIssue?.code == ServerProblem.dottedCode(fault.code))
                let outcome = await realm.sync(timeout: .seconds(180), .continuous)
                guard case .refused(let issue) = outcome else {
                    Issue.record("unexpected \(outcome)")
                    return
                }
                #expect(issue.kind == .permissionDenied)
            }
        }
    }
}
