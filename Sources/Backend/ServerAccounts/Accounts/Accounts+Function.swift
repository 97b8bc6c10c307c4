import JSON
import ServerConfig
import ServerStore

/// Log-in through a program of the operator (app services, 4.6: custom functions).
extension Accounts {
    /// The program answers with the user's id, or with an object that holds `id` and members for
    /// the profile. Without an answer it refuses the log-in.
    func prove(
        _ payload: [String: JSONValue],
        from address: String,
        _ served: ServedApp
    ) async throws -> ProvenIdentity {
        guard let function = served.configuration.function else {
            throw AccountRefusal.providerOff(.customFunction)
        }
        // By payload: a machine with a wrong one must not block the others of its site.
        let name = (try? JSONValue.object(payload).json()).map {
            String(decoding: $0, as: UTF8.self)
        }
        let admission = try await loginGuard.admit(
            LoginGuard.Attempt(address: address, name: "\(served.id) function \(name ?? "")")
        )
        let answer: JSONValue?
        do throws(HookRunner.Failure) {
            answer = try await hooks.ask(
                function,
                .logIn,
                about: served.id,
                ["payload": .object(payload)]
            )
        } catch {
            throw AccountRefusal.logInFunction(error)
        }
        guard let proven = ProvenIdentity(answer) else {
            throw AccountRefusal.unknownToLogInFunction
        }
        await loginGuard.recordSuccess(admission)
        return proven
    }
}

extension ProvenIdentity {
    /// Limit of ids, which become part of rows and tokens.
    private static let maximumIDLength = 256

    /// Nil if the answer does not name a user.
    fileprivate init?(_ answer: JSONValue?) {
        var data: [String: JSONValue] = [:]
        var id: JSONValue? = answer
        if case .object(let members)? = answer {
            id = members["id"]
            for (name, value) in members where name != "id" && value != .null {
                let isText = JWTConfiguration.textFields.contains(name)
                data[name] = isText ? value.text.map { .string($0) } : value
            }
        }
        guard case .string(let text)? = id, (1...Self.maximumIDLength).contains(text.utf8.count)
        else { return nil }
        self.init(
            identity: Identity(id: text, provider: .customFunction, email: ""),
            data: data
        )
    }
}
