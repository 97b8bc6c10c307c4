/// Something that an operator does on the console: the same call of the admin API as the command's.
package enum ConsoleAction: Hashable, Sendable {
    case pause(app: String)
    case enable(app: String)
    /// Makes every client start over: `typed` must be the app's id, as the command asks for "yes".
    case terminate(app: String, typed: String)
    case disableUser(app: String, user: String)
    case enableUser(app: String, user: String)
    case confirm(app: String, email: String)

    /// A call of the admin API.
    package struct Call: Hashable, Sendable {
        package enum Method: Hashable, Sendable {
            case post, put
        }

        package let method: Method
        /// Below `/admin/v1/`.
        package let path: String
        package let body: [String: String]
    }

    package enum Verb: String, Hashable, Sendable {
        case pause, enable, terminate, confirm
        case disableUser = "disable-user"
        case enableUser = "enable-user"
    }

    /// Nil if the fields are not those of an action. Ids are checked, since they become parts of paths.
    package init?(_ fields: FormFields) {
        guard let verb = fields["verb"].flatMap(Verb.init(rawValue:)),
            let app = fields["app"], Identifier.isValid(app)
        else { return nil }
        let user = fields["user"].flatMap { Identifier.isValid($0) ? $0 : nil }
        switch verb {
        case .pause: self = .pause(app: app)
        case .enable: self = .enable(app: app)
        case .terminate: self = .terminate(app: app, typed: fields["typed"] ?? "")
        case .disableUser:
            guard let user else { return nil }
            self = .disableUser(app: app, user: user)
        case .enableUser:
            guard let user else { return nil }
            self = .enableUser(app: app, user: user)
        case .confirm:
            guard let email = fields["email"], !email.isEmpty else { return nil }
            self = .confirm(app: app, email: email)
        }
    }

    package var app: String {
        switch self {
        case .pause(let app), .enable(let app), .terminate(let app, _), .disableUser(let app, _),
            .enableUser(let app, _), .confirm(let app, _):
            app
        }
    }

    /// The call, or the reason why there is none.
    package var call: Result<Call, Unconfirmed> {
        switch self {
        case .pause(let app):
            .success(Call(method: .put, path: "apps/\(app)/sync", body: ["state": "paused"]))
        case .enable(let app):
            .success(Call(method: .put, path: "apps/\(app)/sync", body: ["state": "enabled"]))
        case .terminate(let app, let typed) where typed != app:
            .failure(Unconfirmed())
        case .terminate(let app, _):
            .success(
                Call(method: .post, path: "apps/\(app)/sync/terminate?confirm=\(app)", body: [:])
            )
        case .disableUser(let app, let user):
            .success(Call(method: .put, path: "apps/\(app)/users/\(user)/disable", body: [:]))
        case .enableUser(let app, let user):
            .success(Call(method: .put, path: "apps/\(app)/users/\(user)/enable", body: [:]))
        case .confirm(let app, let email):
            .success(
                Call(method: .post, path: "apps/\(app)/pending/confirm", body: ["email": email])
            )
        }
    }

    /// The operator did not type the id of the app.
    package struct Unconfirmed: Error, Hashable, Sendable, CustomStringConvertible {
        package var description: String { "the typed text is not the app's id; nothing was done" }
    }

    package var title: String {
        switch self {
        case .pause(let app): "pause sync of \(app)"
        case .enable(let app): "enable sync of \(app)"
        case .terminate(let app, _): "terminate sync of \(app)"
        case .disableUser(let app, let user): "disable user \(user) of \(app)"
        case .enableUser(let app, let user): "enable user \(user) of \(app)"
        case .confirm(let app, let email): "confirm \(email) of \(app)"
        }
    }
}
