import SyncProtocol
import Testing

/// The effects of every message and every local event on a session in each of its states.
///
/// A row is a state and, if it matters, the story behind it: `new` is a file without an ident,
/// `busy` a session whose work has no answer yet, `known` neither. A cell names the effects, and
/// after `>` the next state if it differs. An empty cell is an event without effect; `never` is an
/// answer that nothing requested.
@Suite("The client half of a session, state by state")
struct ClientSessionTableTests {
    @Test("Every cell of the tables is true")
    func cells() throws {
        for table in try Self.tables.map(SessionTable.init) {
            for row in table.rows {
                for (event, expected) in zip(table.events, row.cells) {
                    let cell = "\(event.rawValue), \(row.label)"
                    let all = row.stories.compactMap { observed(event, row.state, $0) }
                    #expect(all.isEmpty == (expected == "never"), "\(cell)")
                    for other in all where other != expected {
                        Issue.record("\(cell): \(other) instead of \(expected)")
                    }
                }
            }
        }
    }

    /// The event's effects, in the form of a cell; nil if it cannot happen.
    private func observed(
        _ event: SessionEvent,
        _ state: ScriptedSession.State,
        _ story: ScriptedSession.Story
    ) -> String? {
        guard var session = ScriptedSession(event.story(for: story), in: state),
            let effects = event.happen(to: &session)
        else { return nil }
        let next = session.state.map(\.rawValue) ?? "unknown"
        return (effects + (next == state.rawValue ? [] : ["> \(next)"])).joined(separator: " ")
    }

    @Test("The tables list every event, and every state with every story that can lead there")
    func complete() throws {
        let tables = try Self.tables.map(SessionTable.init)
        let events = tables.flatMap(\.events)
        #expect(events.count == SessionEvent.allCases.count)
        #expect(Set(events) == Set(SessionEvent.allCases))
        for table in tables {
            for state in ScriptedSession.State.allCases {
                let listed = table.rows.filter { $0.state == state }.flatMap(\.stories)
                let possible = ScriptedSession.stories(leadingTo: state)
                #expect(listed.count == possible.count, "\(state)")
                #expect(Set(listed) == Set(possible), "\(state)")
            }
        }
    }

    @Test("No two states behave alike")
    func statesDiffer() {
        for states in ScriptedSession.statesByConduct.values {
            #expect(states.count == 1, "\(states)")
        }
    }

    static let tables = [
        """
        state             | IDENT               | bad IDENT  | DOWNLOAD  | bad DOWNLOAD |
        offline           | close               | close      | close     | close        |
        unbound new       | close               | close      | close     | close        |
        unbound known     | close               | close      | close     | close        |
        unbound busy      | close               | close      | close     | close        |
        awaitingIdent     | store > identifying | close: bad | close     | close        |
        identifying known | close               | close      | close     | close        |
        identifying busy  | close               | close      | close     | close        |
        running known     | close               | close      | integrate | close: bad   |
        running busy      | close               | close      | integrate | close: bad   |
        stalled/report    | close               | close      |           |              |
        stalled           | close               | close      |           |              |
        refused           | close               | close      | close     | close        |
        refused/bind      | close               | close      | close     | close        |
        refused/end       | close               | close      | close     | close        |
        suspended         | close               | close      | close     | close        |
        suspended/offline | close               | close      | close     | close        |
        leaving           |                     |            |           |              |
        unbinding         |                     |            |           |              |
        ended             |                     |            |           |              |
        """,
        """
        state             | flexible DOWNLOAD | MARK      | bad MARK   | UNBOUND |
        offline           | close             | close     | close      | close   |
        unbound new       | close             | close     | close      | close   |
        unbound known     | close             | close     | close      | close   |
        unbound busy      | close             | close     | close      | close   |
        awaitingIdent     | close             | close     | close      | close   |
        identifying known | close             | close     | close      | close   |
        identifying busy  | close             | close     | close      | close   |
        running known     | close             | completed | close: bad | close   |
        running busy      | close             |           | close: bad | close   |
        stalled/report    | close             |           |            | close   |
        stalled           | close             |           |            | close   |
        refused           | close             | close     | close      | close   |
        refused/bind      | close             | close     | close      | close   |
        refused/end       | close             | close     | close      | close   |
        suspended         | close             | close     | close      | close   |
        suspended/offline | close             | close     | close      | close   |
        leaving           |                   |           |            | close   |
        unbinding         |                   |           |            | > ended |
        ended             |                   |           |            |         |
        """,
        """
        state             | ERROR             | JSON_ERROR        | error 231 | error 236 |
        offline           | close             | close             | close     | close     |
        unbound new       | close             | close             | close     | close     |
        unbound known     | close             | close             | close     | close     |
        unbound busy      | close             | close             | close     | close     |
        awaitingIdent     | suspend > refused | suspend > refused | undoing   | report    |
        identifying known | suspend > refused | suspend > refused | undoing   | report    |
        identifying busy  | suspend > refused | suspend > refused | undoing   | report    |
        running known     | suspend > refused | suspend > refused | undoing   | report    |
        running busy      | suspend > refused | suspend > refused | undoing   | report    |
        stalled/report    | suspend > refused | suspend > refused | undoing   | report    |
        stalled           | suspend > refused | suspend > refused | undoing   | report    |
        refused           | close             | close             | close     | close     |
        refused/bind      | close             | close             | close     | close     |
        refused/end       | close             | close             | close     | close     |
        suspended         | close             | close             | close     | close     |
        suspended/offline | close             | close             | close     | close     |
        leaving           | > refused/end     | > refused/end     | undoing   | report    |
        unbinding         | > ended           | > ended           | > ended   | > ended   |
        ended             |                   |                   |           |           |
        """,
        """
        state             | error 101  | LOG_MESSAGE | QUERY_ERROR | TEST_COMMAND | PONG  |
        offline           | close: bad | log         | close       | close        | close |
        unbound new       | close: bad | log         | close       | close        | close |
        unbound known     | close: bad | log         | close       | close        | close |
        unbound busy      | close: bad | log         | close       | close        | close |
        awaitingIdent     | close: bad | log         | close       | close        | close |
        identifying known | close: bad | log         | close       | close        | close |
        identifying busy  | close: bad | log         | close       | close        | close |
        running known     | close: bad | log         | close       | close        | close |
        running busy      | close: bad | log         | close       | close        | close |
        stalled/report    | close: bad | log         | close       | close        | close |
        stalled           | close: bad | log         | close       | close        | close |
        refused           | close: bad | log         | close       | close        | close |
        refused/bind      | close: bad | log         | close       | close        | close |
        refused/end       | close: bad | log         | close       | close        | close |
        suspended         | close: bad | log         | close       | close        | close |
        suspended/offline | close: bad | log         | close       | close        | close |
        leaving           | close: bad | log         | close       | close        | close |
        unbinding         | close: bad | log         | close       | close        | close |
        ended             |            |             |             |              |       |
        """,
        """
        state             | connected   | reconnected | disconnected        | deactivate    |
        offline           | > unbound   | > unbound   |                     | > ended       |
        unbound new       |             |             | > offline           | > ended       |
        unbound known     |             |             | > offline           | > ended       |
        unbound busy      |             |             | > offline           | > ended       |
        awaitingIdent     |             |             | > offline           | > leaving     |
        identifying known |             |             | > offline           | > leaving     |
        identifying busy  |             |             | > offline           | > leaving     |
        running known     |             |             | > offline           | > leaving     |
        running busy      |             |             | > offline           | > leaving     |
        stalled/report    |             |             | > offline           | > leaving     |
        stalled           |             |             | > offline           | > leaving     |
        refused           |             |             | > suspended/offline | > refused/end |
        refused/bind      |             |             | > offline           | > refused/end |
        refused/end       |             |             | > ended             |               |
        suspended         |             |             | > suspended/offline | > ended       |
        suspended/offline | > suspended | > suspended |                     | > ended       |
        leaving           |             |             | > ended             |               |
        unbinding         |             |             | > ended             |               |
        ended             |             |             |                     |               |
        """,
        """
        state             | resume         | resumeDelay |
        offline           |                |             |
        unbound new       |                |             |
        unbound known     |                |             |
        unbound busy      |                |             |
        awaitingIdent     |                |             |
        identifying known |                |             |
        identifying busy  |                |             |
        running known     |                |             |
        running busy      |                |             |
        stalled/report    |                |             |
        stalled           |                |             |
        refused           | > refused/bind | delay       |
        refused/bind      |                |             |
        refused/end       |                |             |
        suspended         | > unbound      | delay       |
        suspended/offline | > offline      | delay       |
        leaving           |                |             |
        unbinding         |                |             |
        ended             |                |             |
        """,
        """
        state             | nextStep             | requestCompletion    | localVersionAvailable |
        offline           |                      |                      |                       |
        unbound new       | BIND > awaitingIdent | BIND > awaitingIdent | BIND > awaitingIdent  |
        unbound known     | BIND > identifying   | BIND > identifying   | BIND > identifying    |
        unbound busy      |                      |                      |                       |
        awaitingIdent     |                      |                      |                       |
        identifying known | IDENT > running      | IDENT > running      | IDENT > running       |
        identifying busy  |                      |                      |                       |
        running known     |                      | MARK                 | scan                  |
        running busy      |                      | MARK                 |                       |
        stalled/report    | JSON_ERROR > stalled | JSON_ERROR > stalled | JSON_ERROR > stalled  |
        stalled           |                      |                      |                       |
        refused           | UNBIND > suspended   | UNBIND > suspended   | UNBIND > suspended    |
        refused/bind      | UNBIND > unbound     | UNBIND > unbound     | UNBIND > unbound      |
        refused/end       | UNBIND > ended       | UNBIND > ended       | UNBIND > ended        |
        suspended         |                      |                      |                       |
        suspended/offline |                      |                      |                       |
        leaving           | UNBIND > unbinding   | UNBIND > unbinding   | UNBIND > unbinding    |
        unbinding         |                      |                      |                       |
        ended             |                      |                      |                       |
        """,
        """
        state             | fileIdentStored | integrated | integrated +MARK | integrated +231 |
        offline           |                 |            | completed        | report          |
        unbound new       | never           | never      | never            | never           |
        unbound known     | never           | never      | never            | never           |
        unbound busy      |                 |            |                  | report          |
        awaitingIdent     | never           | never      | never            | never           |
        identifying known | never           | never      | never            | never           |
        identifying busy  |                 | never      | never            | never           |
        running known     | never           | never      | never            | never           |
        running busy      | never           |            | completed        | report          |
        stalled/report    | never           |            | completed        | report          |
        stalled           | never           |            | completed        | report          |
        refused           |                 |            | completed        | report          |
        refused/bind      |                 |            | completed        | report          |
        refused/end       |                 |            | completed        | report          |
        suspended         |                 |            | completed        | report          |
        suspended/offline |                 |            | completed        | report          |
        leaving           |                 |            | completed        | report          |
        unbinding         |                 |            | completed        | report          |
        ended             |                 |            | completed        | report          |
        """,
        """
        state             | integrationFailed | integrationInterrupted | uploadScanned        |
        offline           |                   |                        |                      |
        unbound new       | never             | never                  | BIND > awaitingIdent |
        unbound known     | never             | never                  | BIND > identifying   |
        unbound busy      |                   |                        |                      |
        awaitingIdent     | never             | never                  |                      |
        identifying known | never             | never                  | IDENT > running      |
        identifying busy  | never             | never                  |                      |
        running known     | never             | never                  | UPLOAD               |
        running busy      | > stalled/report  | > stalled              |                      |
        stalled/report    |                   |                        | JSON_ERROR > stalled |
        stalled           |                   |                        |                      |
        refused           |                   |                        | UNBIND > suspended   |
        refused/bind      |                   |                        | UNBIND > unbound     |
        refused/end       |                   |                        | UNBIND > ended       |
        suspended         |                   |                        |                      |
        suspended/offline |                   |                        |                      |
        leaving           |                   |                        | UNBIND > unbinding   |
        unbinding         |                   |                        |                      |
        ended             |                   |                        |                      |
        """,
    ]
}
