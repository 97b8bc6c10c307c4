import FoundationEssentials
import JSON
import ServerAccounts
import ServerStore

/// The fields of a request body that this server reads. All are strings, and each is optional until
/// a route requires it.
struct RequestFields: Decodable {
    private let texts: [String: String]
    let device: DeviceReport

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }

    init(parsing body: [UInt8]) throws(ServiceRefusal) {
        // Requests without a body still declare JSON (app services, 2.1).
        guard !body.isEmpty else {
            self.texts = [:]
            self.device = .none
            return
        }
        guard let fields = try? JSONDecoder().decode(Self.self, from: Data(body)) else {
            throw .notJSON
        }
        self = fields
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.texts = Self.strings(in: container)
        let options = try? container.nestedContainer(
            keyedBy: Key.self,
            forKey: Key(stringValue: "options")
        )
        let device = try? options?.nestedContainer(
            keyedBy: Key.self,
            forKey: Key(stringValue: "device")
        )
        self.device = device.map { Self.report(Self.strings(in: $0)) } ?? .none
    }

    /// The fields of a provider's credential (app services, 4.1). `body` is the whole request, for
    /// the provider whose fields the application defines.
    func credential(
        for provider: ProviderType,
        in body: [UInt8]
    ) throws(ServiceRefusal) -> LoginCredential {
        switch provider {
        case .anonymous:
            .anonymous
        case .emailPassword:
            .emailPassword(
                EmailPasswordCredential(
                    name: try require("username"),
                    password: try require("password")
                )
            )
        case .apiKey:
            .apiKey(APIKeySecret(text: try require("key")))
        case .customToken:
            .customToken(try require("token"))
        case .customFunction:
            .customFunction(try Self.members(of: body, without: "options"))
        }
    }

    /// The call of a password reset function (app services, 6).
    func resetCall(in body: [UInt8]) throws(ServiceRefusal) -> ResetCall {
        var arguments: [JSONValue] = []
        if case .array(let values)? = try Self.members(of: body)["arguments"] { arguments = values }
        return ResetCall(
            email: try require("email"),
            password: try require("password"),
            arguments: arguments
        )
    }

    private static func members(
        of body: [UInt8],
        without name: String? = nil
    ) throws(ServiceRefusal) -> [String: JSONValue] {
        guard !body.isEmpty else { return [:] }
        let document = try? JSONDecoder().decode(JSONValue.self, from: Data(body))
        guard case .object(var members)? = document else { throw .notJSON }
        if let name { members[name] = nil }
        return members
    }

    func require(_ name: String) throws(ServiceRefusal) -> String {
        guard let value = texts[name] else { throw .missing(name) }
        return value
    }

    private static func strings(in container: KeyedDecodingContainer<Key>) -> [String: String] {
        var texts: [String: String] = [:]
        for key in container.allKeys {
            texts[key.stringValue] = try? container.decode(String.self, forKey: key)
        }
        return texts
    }

    private static func report(_ texts: [String: String]) -> DeviceReport {
        let json = (try? texts.json()).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return DeviceReport(id: texts["deviceId"], json: json)
    }
}
