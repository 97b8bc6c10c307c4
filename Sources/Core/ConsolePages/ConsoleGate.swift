/// Decides what a request may do. Other users of the machine, and pages of other sites in the operator's
/// browser, reach the port, too.
///
/// * The printed address has the key of this run; it gives a cookie, without which nothing is shown.
/// * `Host` must be this console's: a name of another site that resolves to this machine (DNS rebinding) is
///   refused.
/// * A form must come from a page of this run: `Origin`, a token, and a cookie for this site only.
package struct ConsoleGate: Sendable {
    private let key: String
    private let token: String
    private let port: Int

    /// `key` and `token` are random, and those of one run.
    package init(key: String, token: String, port: Int) {
        self.key = key
        self.token = token
        self.port = port
    }

    /// The subject of the page.
    package struct View: Hashable, Sendable {
        package let app: String?
        /// Users after this one are listed.
        package let after: String?
        /// The question whether to terminate the app's sync.
        package let asksToTerminate: Bool

        package init(app: String?, after: String?, asksToTerminate: Bool) {
            self.app = app
            self.after = after
            self.asksToTerminate = asksToTerminate
        }
    }

    package enum Admission: Hashable, Sendable {
        case page(View)
        case action(ConsoleAction)
        case answer(ConsoleResponse)
    }

    /// The address for the operator's browser.
    package var address: String { "http://127.0.0.1:\(port)/?key=\(key)" }

    /// The field that pages put into their forms.
    package var formToken: String { token }

    private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }
    /// Cookies do not distinguish ports.
    private var cookieName: String { "realm_console_\(port)" }

    package func admit(_ request: ConsoleRequest) -> Admission {
        guard let host = request.host, hosts.contains(host) else {
            return .answer(.refusal(421, "this is not the host of the console"))
        }
        let path = request.target.prefix { $0 != "?" }
        guard let query = FormFields(String(request.target.dropFirst(path.count + 1))) else {
            return .answer(.refusal(400, "the query cannot be read"))
        }
        switch (request.method, path) {
        case ("GET", "/style.css"):
            return .answer(.style(ConsoleStyle.text))
        case ("GET", "/"):
            if let presented = query["key"] {
                guard Self.areEqual(presented, key) else { return .answer(Self.locked) }
                let cookie = "\(cookieName)=\(key); HttpOnly; SameSite=Strict; Path=/"
                return .answer(.redirection(to: "/", cookie: cookie))
            }
            guard isKnown(request) else { return .answer(Self.locked) }
            return .page(view(query))
        case ("POST", "/"):
            guard isKnown(request) else { return .answer(Self.locked) }
            return form(request, from: host)
        case (_, "/"), (_, "/style.css"):
            return .answer(.refusal(405, "this method is not allowed"))
        default:
            return .answer(.refusal(404, "not found"))
        }
    }

    /// After an action the browser gets the page again, so that a reload does not repeat the action.
    package func answer(after action: ConsoleAction) -> ConsoleResponse {
        .redirection(to: "/?app=\(FormFields.encoded(action.app))")
    }

    private static let locked = ConsoleResponse.refusal(
        403,
        "open the address that \"realm-server console\" has printed"
    )

    private func view(_ query: FormFields) -> View {
        View(
            app: query["app"],
            after: query["after"].flatMap { Identifier.isValid($0) ? $0 : nil },
            asksToTerminate: query["ask"] == "terminate"
        )
    }

    private func form(_ request: ConsoleRequest, from host: String) -> Admission {
        let foreign = Admission.answer(.refusal(403, "the form is not of this console"))
        guard request.origin == "http://\(host)" else { return foreign }
        if let site = request.fetchSite, site != "same-origin" { return foreign }
        let type = request.contentType?.prefix { $0 != ";" }
        guard type == "application/x-www-form-urlencoded",
            request.body.count <= ConsoleRequest.maximumBodySizeInBytes,
            let text = String(validating: request.body, as: UTF8.self),
            let fields = FormFields(text)
        else { return .answer(.refusal(400, "the form cannot be read")) }
        guard Self.areEqual(fields["token"] ?? "", token) else { return foreign }
        guard let action = ConsoleAction(fields) else {
            return .answer(.refusal(400, "the form has no action"))
        }
        return .action(action)
    }

    private func isKnown(_ request: ConsoleRequest) -> Bool {
        let pairs = (request.cookie ?? "").split(separator: ";")
        return pairs.contains { pair in
            let text = pair.drop { $0 == " " }
            let name = text.prefix { $0 != "=" }
            return name == cookieName && Self.areEqual(String(text.dropFirst(name.count + 1)), key)
        }
    }

    /// Takes the same time wherever two texts of the same length differ.
    private static func areEqual(_ first: String, _ second: String) -> Bool {
        let (first, second) = (Array(first.utf8), Array(second.utf8))
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
