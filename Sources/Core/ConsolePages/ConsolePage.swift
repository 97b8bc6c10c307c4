/// The console's one page. It needs no script: it loads itself again every few seconds, except while it
/// asks a question.
package struct ConsolePage: Sendable {
    private let token: String
    private let view: ConsoleGate.View
    /// The newest last.
    private let deeds: [ConsoleDeed]

    package static let maximumDeeds = 10
    private static let refreshInSeconds = 5
    private static let maximumRows = 100

    /// - Parameter token: proves that a form is of this page.
    package init(token: String, view: ConsoleGate.View, deeds: [ConsoleDeed]) {
        self.token = token
        self.view = view
        self.deeds = deeds
    }

    package func html(_ state: ConsoleState) -> HTML {
        let asks = view.asksToTerminate && state.detail != nil
        return document(
            refreshes: !asks,
            """
            \(health(state.obstacle))
            \(deedList)
            \(appTable(state))
            \(state.detail.map { detail($0, state.samples) })
            """
        )
    }

    /// The page when the server does not respond.
    package func html(failure: String) -> HTML {
        document(
            refreshes: true,
            """
            <p class="box"><strong>The server does not respond.</strong> \(failure)</p>
            \(deedList)
            """
        )
    }

    private func document(refreshes: Bool, _ content: HTML) -> HTML {
        let refresh: HTML = "<meta http-equiv=\"refresh\" content=\"\(Self.refreshInSeconds)\">"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            \(refreshes ? refresh : nil)
            <title>realm-server</title>
            <link rel="stylesheet" href="/style.css">
            </head>
            <body>
            <h1>realm-server</h1>
            \(content)
            </body>
            </html>

            """
    }

    private func health(_ obstacle: String?) -> HTML {
        guard let obstacle else {
            return "<p>The server is <span class=\"state good\">ready</span>.</p>"
        }
        return "<p class=\"box\">The server <strong>cannot serve clients</strong>: \(obstacle)</p>"
    }

    private var deedList: HTML? {
        guard !deeds.isEmpty else { return nil }
        let items = deeds.reversed().map { deed -> HTML in
            guard let refusal = deed.refusal else {
                return "<li><span class=\"good\">done</span>: \(deed.title)</li>\n"
            }
            return "<li><span class=\"bad\">refused</span>: \(deed.title): \(refusal)</li>\n"
        }
        return "<ul id=\"deeds\">\n\(items)</ul>"
    }
}

// MARK: Apps

extension ConsolePage {
    private func appTable(_ state: ConsoleState) -> HTML {
        guard !state.apps.isEmpty else { return "<p>The server has no app.</p>" }
        let rows = state.apps.map { row($0, state) }
        return """
            <h2>Apps</h2>
            <table id="apps">
            <tr><th>app</th><th>from</th><th>sync</th><th class="number">connections</th>\
            <th class="number">sessions</th><th class="number">realms</th>\
            <th class="number">log-ins</th><th class="number">failed log-ins</th>\
            <th class="number">resets</th><th class="number">rejected writes</th></tr>
            \(rows)</table>
            <p class="quiet">Numbers of this process, log-ins and later columns since its start.</p>
            """
    }

    private func row(_ app: ConsoleState.App, _ state: ConsoleState) -> HTML {
        let own = ["app": app.id]
        func sum(_ name: String, _ labels: [String: String] = [:]) -> HTML {
            let value = state.samples.sum("realm_server_\(name)", own.merging(labels) { $1 })
            return "<td class=\"number\">\(Self.count(value))</td>"
        }
        let succeeded = state.samples.sum(
            "realm_server_log_ins_total",
            own.merging(["outcome": "ok"]) { $1 }
        )
        let failed = state.samples.sum("realm_server_log_ins_total", own) - succeeded
        let chosen: HTML = app.id == state.detail?.app.id ? " class=\"chosen\"" : ""
        return """
            <tr\(chosen)><td><a href="/?app=\(FormFields.encoded(app.id))">\(app.id)</a></td>\
            <td>\(app.origin)</td><td>\(Self.badge(app.syncState))</td>\
            \(sum("connections"))\(sum("sessions"))\(sum("realms"))\
            \(sum("log_ins_total", ["outcome": "ok"]))\
            <td class="number">\(Self.count(failed))</td>\
            \(sum("client_resets_total"))\(sum("rejected_writes_total"))</tr>

            """
    }

    private static func badge(_ state: String) -> HTML {
        let kind = state == "enabled" ? "good" : "bad"
        return "<span class=\"state \(kind)\">\(state)</span>"
    }

    /// A sample as a whole number; other values are shown as "?".
    private static func count(_ value: Double) -> String {
        UInt64(exactly: value.rounded()).map(String.init) ?? "?"
    }
}

// MARK: One app

extension ConsolePage {
    private func detail(_ detail: ConsoleState.Detail, _ samples: MetricSamples) -> HTML {
        let app = detail.app
        return """
            <h2 id="app">App \(app.id)</h2>
            <p>Sync is \(Self.badge(app.syncState)), with \(detail.connections) connections and \
            \(detail.sessions) sessions in all processes.</p>
            <div>\(syncForms(app))</div>
            \(view.asksToTerminate ? question(app) : nil)
            \(counters(app, samples))
            \(realmTable(detail.realms))
            \(pendingTable(detail.pending, app))
            \(userTable(detail.users, app))
            """
    }

    private func syncForms(_ app: ConsoleState.App) -> HTML {
        let pause = form(.pause, "Pause", app)
        let enable = form(.enable, "Enable", app)
        let terminate: HTML = """
            <a href="/?app=\(FormFields.encoded(app.id))&amp;ask=terminate">Terminate…</a>
            """
        return switch app.syncState {
        case "enabled": "\(pause) \(terminate)"
        case "paused": "\(enable) \(terminate)"
        default: enable
        }
    }

    private func question(_ app: ConsoleState.App) -> HTML {
        """
        <form method="post" action="/" id="question" class="box" autocomplete="off">
        <p>Terminating sync makes every client of \(app.id) start over; the objects on the server stay. \
        Clients cannot sync until sync is enabled again. A client's unsynced changes are recovered only \
        if client_recovery is on and the client's mode of reset recovers them.</p>
        \(hidden(.terminate, app))
        <p><label>Type the app's id to confirm: <input name="typed" required></label>
        <button>Terminate sync of \(app.id)</button>
        <a href="/?app=\(FormFields.encoded(app.id))">Cancel</a></p>
        </form>
        """
    }

    private func hidden(
        _ verb: ConsoleAction.Verb,
        _ app: ConsoleState.App,
        _ subject: (name: String, value: String)? = nil
    ) -> HTML {
        let field: HTML? = subject.map {
            "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">"
        }
        return """
            <input type="hidden" name="token" value="\(token)">\
            <input type="hidden" name="verb" value="\(verb.rawValue)">\
            <input type="hidden" name="app" value="\(app.id)">\(field)
            """
    }

    private func form(
        _ verb: ConsoleAction.Verb,
        _ label: String,
        _ app: ConsoleState.App,
        _ subject: (name: String, value: String)? = nil
    ) -> HTML {
        """
        <form method="post" action="/">\(hidden(verb, app, subject))<button>\(label)</button></form>
        """
    }

    /// Sessions, and events since this process began, by the labels of the metrics.
    private func counters(_ app: ConsoleState.App, _ samples: MetricSamples) -> HTML? {
        let kinds: [(title: String, name: String, labels: [String])] = [
            ("session", "sessions", ["protocol", "mode"]),
            ("log-in", "log_ins_total", ["provider", "outcome"]),
            ("client reset", "client_resets_total", ["code"]),
            ("session error", "session_errors_total", ["code"]),
            ("rejected write", "rejected_writes_total", []),
        ]
        let rows = kinds.flatMap { kind in
            samples.matching("realm_server_\(kind.name)", ["app": app.id]).map { sample -> HTML in
                let labels = kind.labels.map { "\($0) \(sample.labels[$0] ?? "")" }
                return """
                    <tr><td>\(kind.title)</td><td>\(labels.joined(separator: ", "))</td>\
                    <td class="number">\(Self.count(sample.value))</td></tr>

                    """
            }
        }
        guard !rows.isEmpty else { return nil }
        return """
            <h3>Sessions now; events since the start of this process</h3>
            <table id="counters">
            <tr><th>what</th><th>which</th><th class="number">number</th></tr>
            \(rows)</table>
            """
    }

    private func realmTable(_ realms: [ConsoleState.Realm]) -> HTML {
        guard !realms.isEmpty else { return "<h3>Realms</h3>\n<p>The app has no realm.</p>" }
        let rows = realms.prefix(Self.maximumRows).map { realm -> HTML in
            """
            <tr><td><bdi>\(realm.partition)</bdi></td><td class="number">\(realm.version)</td>\
            <td class="number">\(realm.historyBytes)</td></tr>

            """
        }
        return """
            <h3>Realms</h3>
            <table id="realms">
            <tr><th>partition</th><th class="number">version</th>\
            <th class="number">bytes of history</th></tr>
            \(rows)</table>
            \(Self.remainder(realms.count - rows.count, "realms"))
            """
    }

    private func pendingTable(_ pending: [ConsoleState.Pending], _ app: ConsoleState.App) -> HTML? {
        guard !pending.isEmpty else { return nil }
        let rows = pending.prefix(Self.maximumRows).map { entry -> HTML in
            let confirms =
                entry.purpose == "confirm"
                ? form(.confirm, "Confirm", app, ("email", entry.email)) : nil
            return """
                <tr><td><bdi>\(entry.email)</bdi></td><td>\(entry.purpose)</td>\
                <td class="act">\(confirms)</td></tr>

                """
        }
        return """
            <h3>Accounts that wait for a token</h3>
            <table id="pending">
            <tr><th>e-mail</th><th>purpose</th><th></th></tr>
            \(rows)</table>
            \(Self.remainder(pending.count - rows.count, "tokens"))
            """
    }

    private func userTable(_ users: [ConsoleState.User], _ app: ConsoleState.App) -> HTML {
        guard !users.isEmpty else { return "<h3>Users</h3>\n<p>There are no users here.</p>" }
        let shown = users.prefix(Self.maximumRows)
        let rows = shown.map { user -> HTML in
            let act =
                user.isDisabled
                ? form(.enableUser, "Enable", app, ("user", user.id))
                : form(.disableUser, "Disable", app, ("user", user.id))
            let state: HTML = user.isDisabled ? " <span class=\"state bad\">disabled</span>" : ""
            let identities = user.identities.joined(separator: ", ")
            return """
                <tr><td><bdi>\(user.id)</bdi>\(state)</td><td><bdi>\(identities)</bdi></td>\
                <td class="act">\(act)</td></tr>

                """
        }
        let next: HTML? =
            users.count > shown.count
            ? shown.last.map {
                """
                <p><a href="/?app=\(FormFields.encoded(app.id))&amp;after=\
                \(FormFields.encoded($0.id))">Further users</a></p>
                """
            } : nil
        return """
            <h3>Users</h3>
            <table id="users">
            <tr><th>user</th><th>log-ins</th><th></th></tr>
            \(rows)</table>
            \(next)
            """
    }

    private static func remainder(_ count: Int, _ what: String) -> HTML? {
        count > 0 ? "<p class=\"quiet\">\(count) more \(what) are not shown.</p>" : nil
    }
}
