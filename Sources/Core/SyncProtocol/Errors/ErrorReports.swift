package import Changesets
import Versions

/// A server's ERROR: a code and a text, without an action (wire protocol, 6.4).
///
/// Only clients read it: our server reports in JSON, and no other module can build one.
package struct PlainErrorReport: Hashable, Sendable {
    package let code: Int
    package let message: Text
    package let tryAgain: Bool
    /// Nil for an error of the connection.
    package let session: SessionIdent?
}

/// A server's JSON_ERROR (wire protocol, 6.4 and 7).
package struct JSONErrorReport: Hashable, Sendable {
    package let code: Int
    /// Nil for an error of the connection.
    package let session: SessionIdent?
    package let body: JSONErrorBody

    init(code: Int, session: SessionIdent?, body: JSONErrorBody) {
        self.code = code
        self.session = session
        self.body = body
    }

    /// A server's report about the connection before it closes it.
    ///
    /// - Parameter allowsRecovery: whether a client that starts over may keep its unsynced writes.
    package init(_ fault: ConnectionFault, message: String, allowsRecovery: Bool = true) {
        self.init(
            code: fault.code,
            session: nil,
            body: JSONErrorBody(
                message: message,
                tryAgain: fault.tryAgain,
                action: fault.action,
                isRecoveryModeDisabled: !allowsRecovery
            )
        )
    }

    /// A server's report about one session.
    ///
    /// - Parameter allowsRecovery: whether a client that starts over may keep its unsynced writes.
    package init(
        _ fault: SessionFault,
        session: SessionIdent,
        message: String,
        backoff: JSONErrorBody.Backoff? = nil,
        allowsRecovery: Bool = true
    ) {
        let isWithoutRecovery = fault.action == .clientReset && !allowsRecovery
        self.init(
            code: fault.code,
            session: session,
            body: JSONErrorBody(
                message: message,
                tryAgain: fault.tryAgain,
                action: isWithoutRecovery ? .clientResetNoRecovery : fault.action,
                isRecoveryModeDisabled: !allowsRecovery,
                backoff: backoff,
                details: JSONErrorBody.Details(fault)
            )
        )
    }
}

/// A client's JSON_ERROR: it cannot integrate a download (wire protocol, 5.8).
package struct ClientErrorReport: Hashable, Sendable {
    package let session: SessionIdent
    package let code: Int
    package let message: String
    /// The JSON object as on the wire.
    let encodedBody: [UInt8]

    package init(session: SessionIdent, failure: IntegrationFailure) {
        self.session = session
        self.code = failure.code.rawValue
        self.message = failure.message
        var text = JSONObjectBuilder()
        text.write("message", failure.message)
        self.encodedBody = text.bytes
    }

    init(session: SessionIdent, code: Int, body: [UInt8], at offset: Int) throws(WireError) {
        struct Members: Decodable {
            let message: String?
        }
        self.session = session
        self.code = code
        self.message =
            try JSONObjectBuilder.decode(Members.self, from: body, at: offset).message ?? ""
        self.encodedBody = body
    }
}

/// The reason why a client could not integrate a download (sync history, 8).
package struct IntegrationFailure: Error, Hashable, Sendable {
    package enum Code: Int, Hashable, Sendable {
        /// A bootstrap changeset is too large to store.
        case badChangesetSize = 112
        case other = 201
        /// A changeset does not parse, transform or apply.
        case badChangeset = 212
        /// The server's progress would take the client back.
        case badProgress = 233
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }
}
