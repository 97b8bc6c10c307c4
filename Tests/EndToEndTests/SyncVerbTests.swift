import Glibc
import Testing

@Suite("One sync and no more, with the real programs", .serialized, .timeLimit(.minutes(30)))
struct SyncVerbTests {
    private func sync(_ deployment: Deployment, _ options: String...) async throws
        -> Programs.Outcome
    {
        try await Programs.run(
            "realm-agent",
            ["sync", "--wait", "--config", "\(deployment.directory)/a.yaml"] + options
        )
    }

    @Test("A server that hangs ends it with 124, with a running agent and without one")
    func timeOut() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        try await deployment.withServer { server in
            defer { kill(server.pid, SIGCONT) }
            try await expectSynced(deployment)
            kill(server.pid, SIGSTOP)
            try await expectTimeOut(deployment)
            kill(server.pid, SIGCONT)
            try await expectSynced(deployment)
            try await deployment.withAgent("a") { _ in
                try await expectSynced(deployment)
                kill(server.pid, SIGSTOP)
                try await expectTimeOut(deployment)
            }
        }
    }

    private func expectSynced(_ deployment: Deployment) async throws {
        let outcome = try await sync(deployment, "--timeout", "180s", "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains(#""outcome":"done""#), "\(outcome.output)")
        #expect(outcome.output.contains(#""realm":"stock""#), "\(outcome.output)")
    }

    private func expectTimeOut(_ deployment: Deployment) async throws {
        let outcome = try await sync(deployment, "--timeout", "1s", "--json")
        #expect(outcome.status == 124, "\(outcome.errors)")
        #expect(outcome.output.contains(#""outcome":"timed-out""#), "\(outcome.output)")
    }
}
