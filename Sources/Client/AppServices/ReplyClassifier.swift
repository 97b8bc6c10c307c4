import FoundationEssentials

/// Tells success from failure as every client does (app services, 11.2).
enum ReplyClassifier {
    /// The body of a successful answer.
    static func body(of reply: ServiceReply) throws(ServiceError) -> [UInt8] {
        if let refusal = refusal(in: reply) { throw .refused(refusal) }
        guard reply.status == 0 || 200..<300 ~= reply.status else {
            throw .refused(
                .init(
                    status: reply.status,
                    code: "HTTPError",
                    message: httpMessage(reply),
                    link: nil
                )
            )
        }
        return reply.body
    }

    /// Decodes a successful answer; what is missing or of the wrong type is named.
    static func decode<Answer: Decodable>(
        _ type: Answer.Type,
        from reply: ServiceReply
    ) throws(ServiceError) -> Answer {
        let body = try body(of: reply)
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(body))
        } catch DecodingError.keyNotFound(let key, _) {
            throw .unusableAnswer(code: "MissingJsonKey", message: key.stringValue)
        } catch {
            throw .unusableAnswer(code: "MalformedJson", message: "the answer is not as expected")
        }
    }

    /// An error body counts whatever the status, but only under the exact content type.
    private static func refusal(in reply: ServiceReply) -> ServiceError.Refusal? {
        guard reply.contentType == "application/json", !reply.body.isEmpty,
            let body = try? JSONDecoder().decode(ErrorBody.self, from: Data(reply.body))
        else { return nil }
        if let code = body.errorCode, !code.isEmpty {
            return .init(
                status: reply.status,
                code: code,
                message: body.error ?? "no error message",
                link: body.link
            )
        }
        guard let error = body.error else { return nil }
        return .init(
            status: reply.status,
            code: "AppUnknownError",
            message: error,
            link: body.link
        )
    }

    private static func httpMessage(_ reply: ServiceReply) -> String {
        let text = String(decoding: reply.body.prefix(512), as: UTF8.self)
        let message = "http error code considered fatal"
        return text.isEmpty ? message : "\(message): \(text)"
    }

    private struct ErrorBody: Decodable {
        let error: String?
        let errorCode: String?
        let link: String?

        enum CodingKeys: String, CodingKey {
            case error, link
            case errorCode = "error_code"
        }

        /// A member that is present must be a string: null makes the whole body unreadable.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) throws -> String? {
                container.contains(key) ? try container.decode(String.self, forKey: key) : nil
            }
            self.error = try text(.error)
            self.errorCode = try text(.errorCode)
            self.link = try text(.link)
        }
    }
}
