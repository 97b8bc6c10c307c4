/// A line for the client's log, written by the server (wire protocol, 6.8).
package struct LogMessageBody: Hashable, Sendable {
    /// Names the connection in the server's log; only in the first message of a connection.
    package let connectionID: String?
    package let level: Level?
    package let message: String?
    /// The JSON object as on the wire.
    let encoded: [UInt8]

    package enum Level: String, Hashable, Sendable {
        case fatal, error, warn, info, detail, debug, trace
    }

    package init(connectionID: String? = nil, level: Level, message: String) {
        self.connectionID = connectionID
        self.level = level
        self.message = message
        var text = JSONObjectBuilder()
        if let connectionID { text.write("co_id", connectionID) }
        text.write("level", level.rawValue)
        text.write("msg", message)
        self.encoded = text.bytes
    }

    init(decoding body: [UInt8], at offset: Int) throws(WireError) {
        struct Members: Decodable {
            let co_id: String?
            let level: String?
            let msg: String?
        }
        let members = try JSONObjectBuilder.decode(Members.self, from: body, at: offset)
        let name = members.level ?? ""
        self.level = Level(rawValue: name)
        if members.msg?.isEmpty == false, !name.isEmpty, level == nil {
            throw WireError(at: offset, .json("unknown log level"))
        }
        self.connectionID = members.co_id
        self.message = members.msg
        self.encoded = body
    }
}
