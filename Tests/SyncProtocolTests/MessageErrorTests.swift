import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing

@Suite("Bytes that are not a message")
struct MessageErrorTests {
    private func refusal(fromClient text: String) -> WireError? {
        refusal { try ClientMessage(decoding: Array(text.utf8), context: .partitionServer) }
    }

    private func refusal(fromServer text: String) -> WireError? {
        refusal { try ServerMessage(decoding: Array(text.utf8), context: .partitionClient) }
    }

    private func refusal<Message>(_ decode: () throws -> Message) -> WireError? {
        do {
            _ = try decode()
            return nil
        } catch {
            return error as? WireError
        }
    }

    @Test(
        "A head that cannot be parsed is code 103",
        arguments: [
            "", "\n", "mark", "mark\n", "mark 1", "mark 1 1", "mark 1 1\r\n", "mark  1 1\n",
            "mark 1  1\n", "mark 1 1 \n", " mark 1 1\n", "mark 1 1\nx", "mark 1 1 1\n",
            "mark 0 1\n",
            "mark 1 0\n", "mark -1 1\n", "mark +1 1\n", "mark 1 9223372036854775809\n",
            "mark 9223372036854775808 1\n", "mark 1 99999999999999999999999\n", "mark 1 1x\n",
            "unbind 1\nunbind 1\n", "ping 1\n", "ident 1 -2 5 0 0 0 0\n", "ident 1 2 5 0 0 0\n",
            "bind 1 5 0 1 0\n/tes", "bind 1 5 0 1 0\n/testx", "bind 1 5 0 1\n/test",
            "bind 1 18446744073709551615 2 1 0\nx", "bind 1 5 4096 1 0\n/test",
            "upload 1 0 5 0 5 0 0\n", "upload 1 0 0 0 5 0 0\nx", "upload 1 1 1000 4 5 0 0\nabc",
            "json_error 212 2 1\n[]", "json_error 212 1 1\n{", "json_error x 2 1\n{}",
            "MARK 1 1\n",
        ]
    )
    func badSyntax(text: String) throws {
        let error = try #require(refusal(fromClient: text))
        #expect(error.serverReaction == .report(.badSyntax), "\(error)")
    }

    @Test(
        "An unknown or obsolete name is code 102",
        arguments: ["alloc 1\n", "transact 1 2\n", "hello\n", "download 1\n", "bindx 1 2\n"]
    )
    func unknownMessage(text: String) throws {
        let error = try #require(refusal(fromClient: text))
        #expect(error.serverReaction == .report(.unknownMessage), "\(error)")
    }

    @Test("A body that does not inflate to the announced size is code 110")
    func badDecompression() throws {
        for text in ["upload 1 1 1000 4 5 0 0\nabcd", "upload 1 1 100000 4 5 0 0\nabcd"] {
            let error = try #require(refusal(fromClient: text))
            #expect(error.serverReaction == .report(.badDecompression))
        }
        let upload = "upload 1 1 1224 41 8 3 3\n"
        let body =
            "7801b350305630363135330001530303050305432320e5380a4643603404464360888400006a3f3515"
        for (head, packed) in [
            (upload.replacing("1224", with: "1223"), body),
            (upload.replacing("1224", with: "1225"), body),
            (upload.replacing("41", with: "42"), body + "00"),
            (upload.replacing("41", with: "40"), String(body.dropLast(2))),
            (upload, String(body.dropLast(2)) + "16"),
        ] {
            let bytes = Array(head.utf8) + bytes(ofHex: packed)
            let error = refusal { try ClientMessage(decoding: bytes, context: .partitionServer) }
            #expect(error?.serverReaction == .report(.badDecompression), "\(head)")
        }
    }

    @Test(
        "A changeset header that cannot be parsed is code 111",
        arguments: [
            "upload 1 0 3 0 5 0 0\nabc", "upload 1 0 11 0 5 0 0\n5 0 1 0  6 ",
            "upload 1 0 9 0 5 0 0\n-5 0 1 0 ", "upload 1 0 9 0 5 0 0\n5 0 1 0 0",
        ]
    )
    func badChangesetHeader(text: String) throws {
        let error = try #require(refusal(fromClient: text))
        #expect(error.serverReaction == .report(.badChangesetHeaderSyntax), "\(error)")
    }

    @Test("A changeset longer than the body is code 112")
    func badChangesetSize() throws {
        for size in ["5", "18446744073709551615", "9223372036854775807"] {
            let body = "5 0 1 0 \(size) abcd"
            let error = try #require(
                refusal(fromClient: "upload 1 0 \(body.utf8.count) 0 5 0 0\n\(body)")
            )
            // A word that is not a number of the protocol at all is a bad header.
            let expected: ConnectionFault =
                size == "18446744073709551615" ? .badChangesetHeaderSyntax : .badChangesetSize
            #expect(error.serverReaction == .report(expected), "\(error)")
        }
    }

    @Test("A body announced above the limit closes the connection before memory is allocated")
    func tooLarge() throws {
        let error = try #require(refusal(fromClient: "upload 1 1 67108865 5 5 0 0\nabcde"))
        #expect(
            error.problem == .tooLarge(field: "body", announced: 67_108_865, limit: 67_108_864)
        )
        #expect(error.serverReaction == .close(.messageTooBig))
        #expect(error.offset == "upload 1 1 ".utf8.count)
    }

    @Test("Too many changesets in one message close the connection")
    func tooManyChangesets() throws {
        var limits = Limits.server
        limits.changesetsPerUpload = 3
        let context = WireContext(mode: .partitionBased, limits: limits)
        for count in 2...4 {
            let body = (1...count).map { "\($0) 0 1 0 0 " }.joined()
            let text = "upload 1 0 \(body.utf8.count) 0 9 0 0\n\(body)"
            let error = refusal { try ClientMessage(decoding: Array(text.utf8), context: context) }
            #expect((error?.serverReaction == .close(.messageTooBig)) == (count == 4))
        }
        #expect(limits.changesetsPerUpload < Limits.server.changesetsPerUpload)
    }

    @Test("A message in the other mode's form says so")
    func otherMode() throws {
        let ident = try #require(refusal(fromClient: "ident 1 42 5 0 0 0 0 0 2\n{}"))
        #expect(ident.problem == .otherMode(message: "IDENT", expected: .partitionBased))
        let download = try #require(refusal(fromServer: "download 1 6 12 6 0 12 5 1 2 1 0 0 0\n"))
        #expect(download.problem == .otherMode(message: "DOWNLOAD", expected: .partitionBased))
        let flexible = WireContext(mode: .flexible, limits: .client)
        let partition = refusal {
            try ServerMessage(
                decoding: Array("download 1 9 5 9 7 5 0 0 0 0 0\n".utf8),
                context: flexible
            )
        }
        #expect(partition?.problem == .otherMode(message: "DOWNLOAD", expected: .flexible))
    }

    @Test("An error names the field and its byte offset")
    func location() throws {
        let error = try #require(refusal(fromClient: "upload 1 0 27 0 5 x 0\n"))
        #expect(error.offset == "upload 1 0 27 0 5 ".utf8.count)
        #expect(
            error.description
                == "bad sync message at byte 18: head: progress server version is not a number"
        )
    }

    @Test(
        "A JSON_ERROR without one of its six members, or with one of the wrong type, is refused",
        arguments: [
            "message", "logURL", "tryAgain", "shouldClientReset", "isRecoveryModeDisabled",
            "action",
        ]
    )
    func missingMember(name: String) {
        let members = [
            "message": "\"m\"", "logURL": "\"\"", "tryAgain": "true", "shouldClientReset": "false",
            "isRecoveryModeDisabled": "false", "action": "\"Transient\"",
        ]
        func message(_ members: [String: String]) -> String {
            let json = "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
            return "json_error 201 \(json.utf8.count) 1\n\(json)"
        }
        #expect(refusal(fromServer: message(members)) == nil)
        #expect(refusal(fromServer: message(members.filter { $0.key != name })) != nil)
        #expect(refusal(fromServer: message(members.merging([name: "7"]) { $1 })) != nil)
        #expect(refusal(fromServer: message(members.merging([name: "null"]) { $1 })) != nil)
    }

    @Test(
        "Members that a code or another member requires must be present",
        arguments: [
            (201, "\"backoffIntervalSec\":1"),
            (201, "\"backoffIntervalSec\":1,\"backoffMaxDelaySec\":3"),
            (201, "\"backoffIntervalSec\":-1,\"backoffMaxDelaySec\":3,\"backoffMultiplier\":2"),
            (232, "\"x\":1"), (232, "\"partitionQuery\":\"\""), (236, "\"x\":1"),
            (236, "\"previousSchemaVersion\":-1"),
            (231, "\"compensatingWriteServerVersion\":1"),
            (231, "\"rejectedUpdates\":[],\"rejectedClientVersion\":1"),
            (230, "\"rejectedUpdates\":[]"),
            (230, "\"rejectedUpdates\":[{\"table\":\"T\"}],\"rejectedClientVersion\":1"),
        ]
    )
    func conditionalMembers(code: Int, members: String) {
        let common = """
            "message":"m","logURL":"","tryAgain":true,"shouldClientReset":false,\
            "isRecoveryModeDisabled":false,"action":"Transient"
            """
        let json = "{\(common),\(members)}"
        #expect(refusal(fromServer: "json_error \(code) \(json.utf8.count) 1\n\(json)") != nil)
    }

    @Test("A log message with an unknown level is refused, one without a level is not")
    func logLevels() {
        #expect(refusal(fromServer: "log_message 1 27\n{\"level\":\"loud\",\"msg\":\"hi\"}") != nil)
        #expect(refusal(fromServer: "log_message 1 12\n{\"msg\":\"hi\"}") == nil)
        #expect(refusal(fromServer: "log_message 1 2\n{}") == nil)
        #expect(refusal(fromServer: "log_message 1 3\n{}x") != nil)
    }

    @Test("Random changes of valid messages never trap, and decoded ones encode to equal ones")
    func mutations() throws {
        var random = SplitMix64(seed: 7)
        let fromClient = MessageExampleTests.partitionBasedClient.map { Array($0.utf8) }
        let fromServer = MessageExampleTests.partitionBasedServer.map { Array($0.utf8) }
        for _ in 0..<4000 {
            var bytes = try #require(fromClient.randomElement(using: &random))
            mutate(&bytes, using: &random)
            if let message = try? ClientMessage(decoding: bytes, context: .partitionServer) {
                let again = try ClientMessage(
                    decoding: message.encoded(),
                    context: .partitionServer
                )
                #expect(again == message)
            }
            bytes = try #require(fromServer.randomElement(using: &random))
            mutate(&bytes, using: &random)
            if let message = try? ServerMessage(decoding: bytes, context: .partitionClient) {
                let again = try ServerMessage(
                    decoding: message.encoded(),
                    context: .partitionClient
                )
                #expect(again == message)
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], using random: inout SplitMix64) {
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

    private func bytes(ofHex text: String) -> [UInt8] {
        stride(from: 0, to: text.count, by: 2).compactMap {
            UInt8(text.dropFirst($0).prefix(2), radix: 16)
        }
    }
}
