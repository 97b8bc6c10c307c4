import Changesets
import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing
import Versions

/// Every number of every message may have any value, at both ends.
@Suite("Extreme numbers in messages crash nothing")
struct ExtremeNumbersTests {
    /// A client's connection and its session, in every state that a message can meet.
    private func sessions() -> [ClientSession] {
        var fresh = ClientSession(
            ident: 1,
            path: "\"p\"",
            fileIdent: .none,
            progress: .zero,
            localVersion: ClientVersion(1)
        )
        fresh.connected(isFastReconnect: false)
        _ = fresh.nextStep()
        let running = ClientSessionTests.running()
        var uploading = ClientSessionTests.running()
        _ = uploading.received(.mark(1, RequestIdent(1)))
        _ = uploading.nextStep()
        var leaving = ClientSessionTests.running()
        leaving.deactivate()
        _ = leaving.nextStep()
        return [fresh, running, uploading, leaving]
    }

    @Test("Messages of a server, to a client in every state")
    func client() {
        var random = SplitMix64(seed: 1)
        var count = 0
        for text in MessageExampleTests.partitionBasedServer + MessageExampleTests.flexibleServer {
            for bytes in MessageVariants.of(text) {
                count += 1
                for context in [
                    WireContext.partitionClient, WireContext(mode: .flexible, limits: .client),
                ] {
                    guard let message = try? ServerMessage(decoding: bytes, context: context)
                    else { continue }
                    for var session in sessions() {
                        meet(&session, message, using: &random)
                    }
                    var machine = ConnectionMachine()
                    _ = machine.nextStep(at: .zero, wantsConnection: true)
                    _ = machine.connected(at: .zero, using: &random)
                    _ = machine.nextStep(at: .seconds(60), wantsConnection: true)
                    _ = machine.received(message, at: .seconds(61), using: &random)
                    _ = machine.nextStep(at: .seconds(600), wantsConnection: true)
                }
            }
        }
        print("\(count) messages of a server")
        #expect(count > 1_000)
    }

    private func meet(
        _ session: inout ClientSession,
        _ message: ServerMessage,
        using random: inout SplitMix64
    ) {
        for effect in session.received(message) {
            switch effect {
            case .storeFileIdent(let file):
                session.fileIdentStored(file, localVersion: ClientVersion(2))
            case .integrate(let download):
                _ = session.integrated(
                    download.part,
                    download.progress,
                    localVersion: ClientVersion(UInt64(Int64.max))
                )
            default: break
            }
        }
        for _ in 0..<4 { _ = session.nextStep() }
        session.disconnected()
        session.connected(isFastReconnect: true)
        for _ in 0..<4 { _ = session.nextStep() }
    }

    @Test("Back-off numbers of a server's error are respected, however large")
    func backoff() {
        var random = SplitMix64(seed: 1)
        let numbers = [0, 1, UInt32.max - 1, UInt32.max]
        for initial in numbers {
            for maximum in numbers {
                for multiplier in numbers {
                    var delay = ReconnectDelay<Int>()
                    let backoff = JSONErrorBody.Backoff(
                        initialInSeconds: initial,
                        maximumInSeconds: maximum,
                        multiplier: multiplier
                    )
                    delay.failed(1, backoff: backoff)
                    for _ in 0..<100 {
                        let pause = delay.next(using: &random)
                        #expect(pause >= .zero)
                        #expect(pause <= .seconds(max(initial, maximum)))
                    }
                }
            }
        }
    }

    @Test("Messages of a client, to a server in every state")
    func server() throws {
        var count = 0
        for text in MessageExampleTests.partitionBasedClient + MessageExampleTests.flexibleClient {
            for bytes in MessageVariants.of(text) {
                count += 1
                let context = WireContext(mode: .flexible, limits: .server)
                _ = try? ClientMessage(decoding: bytes, context: context)
                for state in 0..<4 {
                    var connection = ServerConnectionTests.connection()
                    _ = connection.opened(connectionID: "c")
                    bring(&connection, to: state)
                    answer(connection.received(bytes), &connection)
                }
            }
        }
        print("\(count) messages of a client")
        #expect(count > 1_000)
    }

    /// Before BIND, after it, after IDENT, with the first DOWNLOAD sent.
    private func bring(_ connection: inout ServerConnection, to state: Int) {
        guard state > 0 else { return }
        let effects = connection.received(ServerConnectionTests.bind(1))
        guard case .work(let key, .open)? = effects.first else { return }
        guard state > 1 else { return }
        _ = connection.opened(key, assigned: nil)
        _ = connection.received(ServerConnectionTests.ident(1))
        guard state > 2 else { return }
        _ = connection.identified(key, upload: .zero, locked: .zero)
        _ = connection.scanned(key, ServerConnectionTests.nothing(at: 0))
    }

    /// The results of the rest of a server, with extreme numbers of its own.
    private func answer(
        _ effects: [ServerConnection.Effect],
        _ connection: inout ServerConnection
    ) {
        for effect in effects {
            switch effect {
            case .work(let key, .open):
                _ = connection.opened(key, assigned: nil)
            case .work(let key, .scanDownload(let cursor)):
                let version = cursor.serverVersion.rawValue
                _ = connection.scanned(key, ServerConnectionTests.nothing(at: version))
                _ = connection.historyGrew(key, to: ServerVersion(UInt64(Int64.max)))
            default: break
            }
        }
    }
}
