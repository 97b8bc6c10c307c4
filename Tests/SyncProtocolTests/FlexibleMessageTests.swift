import Changesets
import Query
import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing
import Versions

@Suite("Messages of flexible sync")
struct FlexibleMessageTests {
    private static let fromClient = WireContext(mode: .flexible, limits: .server)
    private static let fromServer = WireContext(mode: .flexible, limits: .client)

    private func refusal<Message>(_ decode: () throws(WireError) -> Message) -> WireError? {
        do throws(WireError) {
            _ = try decode()
            return nil
        } catch {
            return error
        }
    }

    private func refusal(fromClient text: String) -> WireError? {
        refusal { () throws(WireError) in
            try ClientMessage(decoding: Array(text.utf8), context: Self.fromClient)
        }
    }

    private func refusal(fromServer text: String) -> WireError? {
        refusal { () throws(WireError) in
            try ServerMessage(decoding: Array(text.utf8), context: Self.fromServer)
        }
    }

    // MARK: The path of BIND

    @Test(
        "A path is read, and written in the recorded form",
        arguments: [
            (#"{"schemaVersion":0,"sessionReason":0}"#, FlexibleBinding()),
            (
                #"{"migratedPartition":"\"foo\"","schemaVersion":3,"sessionReason":1}"#,
                FlexibleBinding(
                    migratedPartition: "\"foo\"",
                    schemaVersion: 3,
                    purpose: .clientReset
                )
            ),
            (
                #"{"schemaVersion":9223372036854775807,"sessionReason":0}"#,
                FlexibleBinding(schemaVersion: 9_223_372_036_854_775_807)
            ),
        ]
    )
    func binding(_ text: String, _ binding: FlexibleBinding) {
        #expect(FlexibleBinding(decoding: Text(text)) == binding)
        #expect(binding.encoded == Text(text))
    }

    @Test(
        "Older clients send less, newer ones may send more",
        arguments: ["", "{}", #"{"other":[1],"schemaVersion":0}"#, #"{ "sessionReason": 7 }"#]
    )
    func tolerance(_ text: String) {
        #expect(FlexibleBinding(decoding: Text(text)) == FlexibleBinding())
    }

    @Test(
        "Another path is illegal",
        arguments: [
            "\"partition\"", "null", "[]", "{", "/test", #"{"schemaVersion":-1}"#,
            #"{"schemaVersion":"1"}"#, #"{"schemaVersion":1.5}"#, #"{"migratedPartition":7}"#,
            #"{"schemaVersion":9223372036854775808}"#, #"{"sessionReason":true}"#, "{}x", "{}\0",
        ]
    )
    func illegalPaths(_ text: String) {
        #expect(FlexibleBinding(decoding: Text(text)) == nil)
    }

    @Test("A path that is not UTF-8 is illegal")
    func pathBytes() {
        let bytes = Array(#"{"migratedPartition":"x"}"#.utf8).map { $0 == 0x78 ? 0xff : $0 }
        #expect(FlexibleBinding(decoding: Text(bytes: bytes)) == nil)
        let wide: [UInt8] = [0x7b, 0, 0x7d, 0]
        #expect(FlexibleBinding(decoding: Text(bytes: wide)) == nil)
    }

    // MARK: Meaning of the fields

    @Test("IDENT and QUERY carry version and body")
    func queries() throws {
        let ident = try ClientMessage(
            decoding: Array("ident 1 42 7 8 12 9 33 5 8\n{\"a\":\"\"}".utf8),
            context: Self.fromClient
        )
        guard case .ident(let message) = ident else {
            Issue.record("no IDENT")
            return
        }
        #expect(message.query == .init(version: QueryVersion(5), body: "{\"a\":\"\"}"))
        #expect(message.download.serverVersion == ServerVersion(8))
        let query = try ClientMessage(
            decoding: Array("query 3 9223372036854775807 2\n{}".utf8),
            context: Self.fromClient
        )
        let version = QueryVersion(9_223_372_036_854_775_807)
        #expect(query == .query(3, .init(version: version, body: "{}")))
    }

    @Test("DOWNLOAD carries query version, batch state and estimate")
    func extents() throws {
        for (fields, extent) in [
            ("0 0 0", ServerMessage.Extent.query(.zero, .moreToCome, .none)),
            ("7 1 1", .query(QueryVersion(7), .lastOfBootstrap, .complete)),
            ("7 2 1.0000", .query(QueryVersion(7), .steady, .complete)),
        ] {
            let message = try ServerMessage(
                decoding: Array("download 1 6 12 6 0 12 5 \(fields) 0 0 0\n".utf8),
                context: Self.fromServer
            )
            guard case .download(let download) = message else {
                Issue.record("no DOWNLOAD")
                continue
            }
            #expect(download.extent == extent)
        }
    }

    @Test("Clients below version 12 get 0 as the estimate")
    func oldClients() {
        let extent = ServerMessage.Extent.query(QueryVersion(3), .lastOfBootstrap, .complete)
        let old = ServerMessage.Extent.query(QueryVersion(3), .lastOfBootstrap, .none)
        #expect(extent.limited(toVersion: 11) == old)
        #expect(extent.limited(toVersion: 12) == extent)
        let partition = ServerMessage.Extent.partition(downloadableBytes: 7)
        #expect(partition.limited(toVersion: 4) == partition)
    }

    @Test("Any error of a query is read: code and text have no fixed form")
    func queryErrors() throws {
        for code in [226, 0, -5, 99_999] {
            let text = "query_error \(code) 5 1 3\nwrong"
            let message = try ServerMessage(decoding: Array(text.utf8), context: Self.fromServer)
            let error = ServerMessage.QueryError(
                code: code,
                message: "wrong",
                version: QueryVersion(3)
            )
            #expect(message == .queryError(1, error))
            #expect(String(decoding: message.encoded(), as: UTF8.self) == text)
        }
    }

    // MARK: Malformed input

    @Test(
        "A head that cannot be parsed is code 103",
        arguments: [
            "ident 1 42 7 8 12 9 33 5\n{}", "ident 1 42 7 8 12 9 33 5 3\n{}",
            "ident 1 42 7 8 12 9 33 5 1\n{}", "ident 1 42 7 8 12 9 33 -1 2\n{}",
            "ident 1 42 7 8 12 9 33 9223372036854775808 2\n{}", "ident 1 42 7 8 12 9 33 5 2{}",
            "ident 1 42 7 8 12 9 33 5 18446744073709551615\n{}", "ident 1 42 7 8 12 9 33 x 2\n{}",
            "query 1 1\n", "query 1 1 \n", "query 1 1 3\n{}", "query 1 1 1\n{}", "query 0 1 2\n{}",
            "query 1 -1 2\n{}", "query 1 9223372036854775808 2\n{}", "query 1 1 2 \n{}",
            "query 1 1 -2\n{}", "query 1 1 2 2\n{}", "query\n", "query 1 1.5 2\n{}",
        ]
    )
    func badSyntax(_ text: String) throws {
        let error = try #require(refusal(fromClient: text))
        #expect(error.serverReaction == .report(.badSyntax), "\(error)")
    }

    @Test("An IDENT of partition-based sync is refused as one of the other mode")
    func otherMode() throws {
        let error = try #require(refusal(fromClient: "ident 1 42 7 8 12 9 33\n"))
        #expect(error.problem == .otherMode(message: "IDENT", expected: .flexible))
    }

    @Test(
        "A message of a server with a field out of range is refused",
        arguments: [
            "download 1 6 12 6 0 12 5 1 3 1 0 0 0\n", "download 1 6 12 6 0 12 5 1 -1 1 0 0 0\n",
            "download 1 6 12 6 0 12 5 -1 2 1 0 0 0\n",
            "download 1 6 12 6 0 12 5 9223372036854775808 2 1 0 0 0\n",
            "download 1 6 12 6 0 12 5 1 2 1.1 0 0 0\n", "download 1 6 12 6 0 12 5 1 2 -0.5 0 0 0\n",
            "download 1 6 12 6 0 12 5 1 2 2 0 0 0\n", "download 1 6 12 6 0 12 5 1 2 .5 0 0 0\n",
            "download 1 6 12 6 0 12 5 1 2 1. 0 0 0\n", "download 1 6 12 6 0 12 5 1 2 nan 0 0 0\n",
            "download 1 6 12 6 0 12 5 1 2 1e0 0 0 0\n", "download 1 6 12 6 0 12 5 1 2 0 0 0\n",
            "query_error 226 4 1 3\nwrong", "query_error 226 6 1 3\nwrong",
            "query_error 226 5 0 3\nwrong", "query_error 226 5 1 -3\nwrong",
            "query_error x 5 1 3\nwrong", "query_error 226 5 1\nwrong",
            "query_error 226 5 1 9223372036854775808\nwrong", "query_error 226 -5 1 3\nwrong",
        ]
    )
    func outOfRange(_ text: String) {
        #expect(refusal(fromServer: text) != nil)
    }

    @Test("Every prefix of an example is refused")
    func prefixes() {
        for text in MessageExampleTests.flexibleClient {
            for length in 0..<text.utf8.count {
                #expect(refusal(fromClient: String(text.prefix(length))) != nil)
            }
        }
        for text in MessageExampleTests.flexibleServer {
            for length in 0..<text.utf8.count {
                #expect(refusal(fromServer: String(text.prefix(length))) != nil)
            }
        }
    }

    @Test("Random changes never trap, and decoded messages encode to equal ones")
    func mutations() throws {
        var random = SplitMix64(seed: 11)
        let fromClient = MessageExampleTests.flexibleClient.map { Array($0.utf8) }
        let fromServer = MessageExampleTests.flexibleServer.map { Array($0.utf8) }
        var decoded = 0
        for _ in 0..<4_000 {
            var bytes = try #require(fromClient.randomElement(using: &random))
            alter(&bytes, using: &random)
            if let message = try? ClientMessage(decoding: bytes, context: Self.fromClient) {
                decoded += 1
                let again = try ClientMessage(
                    decoding: message.encoded(),
                    context: Self.fromClient
                )
                #expect(again == message)
                if case .bind(let bind) = message, let path = FlexibleBinding(decoding: bind.path) {
                    #expect(FlexibleBinding(decoding: path.encoded) == path)
                }
            }
            bytes = try #require(fromServer.randomElement(using: &random))
            alter(&bytes, using: &random)
            if let message = try? ServerMessage(decoding: bytes, context: Self.fromServer) {
                decoded += 1
                let again = try ServerMessage(
                    decoding: message.encoded(),
                    context: Self.fromServer
                )
                #expect(again == message)
            }
        }
        print("flexible messages: \(decoded) of 8000 altered ones decode")
        #expect(decoded > 400 && decoded < 8_000)
    }

    private func alter(_ bytes: inout [UInt8], using random: inout SplitMix64) {
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(UInt8(ascii: "9"), at: index)
            default: bytes[index] = UInt8(ascii: " ")
            }
        }
    }
}

@Suite(
    "Recorded conversations of flexible sync",
    .enabled(if: Vectors.areRequiredOrPresent, "the folder of vectors is not there")
)
struct FlexibleVectorTests {
    @Test("Every recorded path and body is read, and written with the same bytes")
    func contents() throws {
        var paths = 0
        var bodies = 0
        for scenario in try WireScenario.all() where scenario.mode == .flexible {
            let context = WireContext(mode: .flexible, limits: .server)
            for line in scenario.binaryLines where line.dir == .fromClient {
                let place = "\(scenario.name) \(line.seq)"
                switch try ClientMessage(decoding: line.bytes, context: context) {
                case .bind(let bind):
                    #expect(FlexibleBinding(decoding: bind.path)?.encoded == bind.path, "\(place)")
                    paths += 1
                case .ident(let ident):
                    let query = try #require(ident.query, "\(place)")
                    try check(query, place)
                    bodies += 1
                case .query(_, let query):
                    try check(query, place)
                    bodies += 1
                case .upload, .mark, .unbind, .ping, .jsonError, .testCommand: break
                }
            }
        }
        print("flexible vectors: \(paths) paths of BIND, \(bodies) bodies of IDENT and QUERY")
        #expect(paths > 0 && bodies > paths)
    }

    private func check(_ query: ClientMessage.Query, _ place: String) throws {
        let body = try SubscriptionSetBody(decoding: query.body.bytes)
        #expect(body.encoded == query.body.bytes, "\(place)")
        for text in body.queries.values { try SubscriptionRules.checkSyntax(of: text) }
    }

    @Test("Bootstraps, steady data and undone writes are among them")
    func variety() throws {
        var states: Set<ServerMessage.BatchState> = []
        var undone: [RejectedUpdate] = []
        for scenario in try WireScenario.all() where scenario.mode == .flexible {
            let context = WireContext(mode: .flexible, limits: .client)
            for line in scenario.binaryLines where line.dir == .fromServer {
                switch try ServerMessage(decoding: line.bytes, context: context) {
                case .download(let download):
                    guard case .query(_, let state, _) = download.extent else {
                        Issue.record("\(scenario.name) \(line.seq)")
                        continue
                    }
                    states.insert(state)
                case .jsonError(let report):
                    guard case .compensated(let rejected, let version) = report.body.details else {
                        continue
                    }
                    #expect(version > .zero)
                    undone += rejected.updates
                default: break
                }
            }
        }
        print("flexible vectors: \(undone.count) undone writes")
        #expect(states.contains(.lastOfBootstrap) && states.contains(.steady))
        #expect(!undone.isEmpty && undone.allSatisfy { $0.key != nil })
    }
}
