import FoundationEssentials

/// Distinguishes success from failure as every client does (app services, 11.2).
enum ResponseClassifier {
    /// The body of a successful answer.
    static func body(of response: ServiceResponse) throws(ServiceError) -> [UInt8] {
        if let refusal = refusal(in: response) { throw .refused(refusal) }
        guard response.status == 0 || 200..<300 ~= response.status else {
            throw .refused(
                .init(
                    status: response.status,
                    code: "HTTPError",
                    message: httpMessage(response),
                    link: nil
                )
            )
        }
        return response.body
    }

    /// Decodes a successful response; an error names the member that is missing or of the wrong
    /// type.
    static func decode<Answer: Decodable>(
        _ type: Answer.Type,
        from response: ServiceResponse
    ) throws(ServiceError) -> Answer {
        let body = try body(of: response)
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(body))
        } catch DecodingError.keyNotFound(let key, _) {
            throw .unusableResponse(code: "MissingJsonKey", message: key.stringValue)
        } catch {
            throw .unusableResponse(code: "MalformedJson", message: "the answer is not as expected")
        }
    }

    /// Reads an error body of any status, but only with the exact content type.
    private static func refusal(in response: ServiceResponse) -> ServiceError.Refusal? {
        guard response.contentType == "application/json", !response.body.isEmpty,
            let body = try? JSONDecoder().decode(ErrorBody.self, from: Data(response.body))
        else { return nil }
        if let code = body.errorCode, !code.isEmpty {
            return .init(
                status: response.status,
                code: code,
                message: body.error ?? "no error message",
                link: body.link
            )
        }
        guard let error = body.error else { return nil }
        return .init(
            status: response.status,
            code: "AppUnknownError",
            message: error,
            link: body.link
        )
    }

    private static func httpMessage(_ response: ServiceResponse) -> String {
        let text = String(decoding: response.body.prefix(512), as: UTF8.self)
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
