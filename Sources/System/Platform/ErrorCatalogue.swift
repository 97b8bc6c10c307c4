/// The remedy for each stable code, with the same text as in `docs/errors.md`.
///
/// Diagnostics of configurations and lines of import reports have remedies of their own, made for the case.
package enum ErrorCatalogue {
    /// The remedy for people, with the names of the realm and the user at hand; nil for an unknown code.
    package static func remedy(for code: String, realm: String?, user: String?) -> String? {
        guard var text = remedies[code] else { return nil }
        if let realm { text = text.replacing("REALM", with: realm) }
        if let user { text = text.replacing("USER", with: user) }
        return text
    }

    /// By code. `REALM` and `USER` are replaced by the names of the realm and the user.
    static let remedies: [String: String] = [
        "agent.disk_full":
            "free disk space; the agent starts automatically",
        "agent.few_descriptors":
            "raise `LimitNOFILE=` with `systemctl edit realm-agent`, or the hard limit of the shell (`ulimit -Hn`)",
        "agent.forbidden":
            "be root, or a member of the socket's group",
        "agent.io_error":
            "check the disk, and the owner of the data directory",
        "agent.malformed_answer":
            "compare the versions of both",
        "agent.no_answer":
            "run `journalctl -u realm-agent`",
        "agent.not_reloadable":
            "restart it",
        "agent.not_running":
            "start it with `systemctl start realm-agent`, or `realm-agent run`",
        "agent.stopping":
            "start it again",
        "agent.unknown_group":
            "create it with `addgroup`, or correct `agent.control_group`",
        "auth.key_exists":
            "choose another name, or delete the other key",
        "auth.keys_refused":
            "log in as a user that is not anonymous; ask the server's operator whether the app allows API keys",
        "auth.logged_out":
            "`realm-agent users login USER`",
        "auth.no_password": """
        use the provider `email-password`, or register the user with the provider of its \
        accounts
        """,
        "auth.other_user":
            "restart the agent, with another path for the new user's realms",
        "auth.pending_uploads":
            "wait for them, or `--force` to lose them",
        "auth.refused":
            "correct the credential of the user, then `realm-agent users login USER`",
        "auth.secret_unreadable":
            "put the secret where the configuration says it is",
        "auth.session_ended": """
        if the user may be enabled again, nothing; else `realm-agent users login USER`, \
        which makes a new user and moves the files to `recovered/`
        """,
        "auth.token_command":
            "run it as the agent's user, and correct it",
        "auth.unavailable":
            "try again later",
        "auth.unknown_app":
            "correct `app_id` or `base_url`; on a server of your own, `apps` declares the app",
        "auth.unknown_key":
            "`realm-agent users api-keys list USER` lists the keys",
        "auth.unknown_user":
            "`realm-agent users list` lists the users",
        "clock.before_epoch":
            "set the clock",
        "connection.ended":
            "nothing, the agent retries; if it repeats, read the message",
        "connection.failed": """
        check `base_url`, the name and the port; `realm-agent check --connect` tries each \
        step. The agent retries
        """,
        "connection.message_too_big":
            "raise the limit of the proxy; a client reset follows",
        "connection.tls_failed":
            "check the package `ca-certificates`, `tls.ca_file`, the certificate's names and dates, and this machine's clock",
        "ingest.bad_object":
            "correct the line; `realm-agent schema REALM` prints the class",
        "ingest.exists":
            "leave the line out, or change the object with SQL",
        "ingest.unknown_class":
            "use one of the classes that the message lists",
        "merge.classes_differ":
            "make the schemas of all apps agree",
        "merge.columns_differ":
            "make the schemas of all apps agree",
        "merge.index_out_of_range":
            "one side's history is damaged: a client reset follows",
        "merge.list_meets_dictionary":
            "one side's history is damaged: a client reset follows",
        "merge.list_sizes_differ":
            "one side's history is damaged: a client reset follows",
        "merge.nested_set":
            "update the app that wrote it",
        "merge.too_many_pairs":
            "the client is reset and starts from the server's state",
        "plugin.allowance_used":
            "find out why log-ins do not help",
        "plugin.bad_answer":
            "print one JSON document as the page on plugins says",
        "plugin.cancelled":
            "nothing",
        "plugin.cannot_start":
            "correct `command`, or the permissions",
        "plugin.exit_status":
            "see the end of its standard error in the message",
        "plugin.killed":
            "look for a crash in it",
        "plugin.refused":
            "see the log of that service",
        "plugin.secret_unreadable":
            "put it where the configuration says it is",
        "plugin.storage":
            "see the reason in the message",
        "plugin.timed_out":
            "make it faster, or raise `timeout`",
        "plugin.too_much_output":
            "print only the decision; write logs to standard error",
        "plugin.unit": """
        see the reason; the unit's name must start with `realm-agent-` unless you add a \
        polkit rule
        """,
        "plugin.unreachable":
            "check `url` and the network",
        "protocol.bad_changeset":
            "nothing; the server may request a client reset",
        "protocol.bad_progress":
            "nothing; the server may request a client reset",
        "protocol.bad_subscriptions":
            "nothing; the connection is made again",
        "realm.busy":
            "look for a write transaction that stays open",
        "realm.cannot_open":
            "check that its directory exists and is writable for the agent",
        "realm.corrupt":
            "restore a backup, or move the file away to download it again",
        "realm.database_error":
            "see the cause in the message",
        "realm.disabled":
            "set `realms.REALM.enabled` to `true`",
        "realm.disk_full":
            "free disk space; sync resumes automatically",
        "realm.file_exists":
            "give the copy another path, or move the file away",
        "realm.file_replaced":
            "nothing, the agent opens the file that is there now; stop it before a file is moved or restored",
        "realm.ident_already_set":
            "restart the session",
        "realm.impossible_value":
            "find the program that writes `_realm_…` tables",
        "realm.io_error":
            "check the disk",
        "realm.locked":
            "stop it, or give this realm another path",
        "realm.newer_layout":
            "install that version, or a later one",
        "realm.not_a_realm":
            "give the realm another path, or move the file away",
        "realm.not_open":
            "see `realm-agent status` for the cause",
        "realm.pending_uploads": """
        `realm-agent wait REALM --for upload`; `delete --force` loses them; for a seed, run \
        `realm-agent copy` again
        """,
        "realm.unknown":
            "`realm-agent status` lists the realms",
        "realm.wrong_owner":
            "give the realm another path, or move the file away",
        "reject.refused":
            "write it with SQL, corrected",
        "reject.unknown":
            "list them with the verb `rejects`",
        "request.forbidden":
            "be root, the agent's user, or a member of the group that `agent.control_group` names",
        "request.malformed":
            "see the message",
        "request.unknown":
            "compare the versions of both",
        "reset.cycle":
            "read the server's log; then reset by hand",
        "reset.flexible_sync":
            "correct the server, then restart the realm",
        "reset.handler_failed": """
        see the handler's failure in `realm-agent plugins list`; then `realm-agent reset \
        REALM`
        """,
        "reset.impossible":
            "try again later",
        "reset.manual":
            "`realm-agent reset REALM`, or restart the agent: it then keeps a copy and starts over",
        "reset.no_fresh_copy":
            "see the reason in the message",
        "reset.not_recoverable":
            "reset with `discard-unsynced-changes`, which writes it to a file",
        "reset.recovery_not_permitted":
            "reset with another mode",
        "reset.requested":
            "nothing",
        "reset.restored_file":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "reset.schema_breaking":
            "adapt the schemas, or start over with `--mode manual`",
        "reset.unknown_token":
            "see the last `reset` event, or use `--mode manual`",
        "schema.altered": """
        restore a changed table, or reset the realm with `--mode manual`; do not change them \
        again
        """,
        "schema.application_column":
            "nothing; the column is not synchronised",
        "schema.bad_counter":
            "remove `counter`, or change the type",
        "schema.bad_default":
            "correct or remove it",
        "schema.bad_link":
            "use `link<…>` for top-level and `embedded<…>` for embedded classes",
        "schema.bad_name":
            "rename the class or property",
        "schema.bad_primary_key":
            "name an int, string, object_id or uuid property",
        "schema.bad_type":
            "use one of the types named",
        "schema.conflict":
            "correct the schema file, or leave it out to learn the server's schema",
        "schema.name_taken":
            "rename or drop it",
        "schema.remote_trigger":
            "correct or drop the trigger, or remove it from `run_on_remote`",
        "schema.unique_index":
            "drop the index; use an ordinary one",
        "schema.unknown_class":
            "declare it, or follow the suggestion",
        "server.access": """
        see the reason in the log; run the program by hand with a line as \
        `man realm-server` describes
        """,
        "server.admin_socket":
            "correct `server.admin_socket`, or create its directory",
        "server.cannot_listen":
            "stop the other program, or correct `server.listen`",
        "server.clock_differs":
            "let NTP set the clocks of both machines",
        "server.configuration_differs":
            "give all of them the same configuration, and reload each",
        "server.custom_user_data":
            "make it smaller than 4 KiB: keep only what applications need at every start",
        "server.forbidden":
            "run the command as the server's user",
        "server.hook":
            "see the reason in the log; run the program by hand with the documented request",
        "server.jwt_key": """
        give a PEM public key, a secret of at least 32 characters for HS256, or a JSON Web \
        Key Set
        """,
        "server.metrics_address":
            "stop the other program, or correct `server.metrics.listen`",
        "server.no_answer":
            "run `journalctl -u realm-server`",
        "server.not_running":
            "start it, or name its configuration with `--config`",
        "server.refused":
            "follow the message",
        "server.reload":
            "correct the mistakes that the messages name, and reload again",
        "server.schema":
            "correct `apps.APP.schema`, or the file where the message points",
        "server.sink": """
        see the reason in the log; run the program by hand with a file of the spool, each \
        line without its first 17 characters
        """,
        "server.spool": """
        see the path and the reason: free space, repair the disk, or correct the owner of \
        the directory
        """,
        "server.spool_full":
            "make the program faster, or `spool_limit` larger",
        "server.spool_locked":
            "stop it, or give each server and app a directory of its own",
        "server.tls":
            "correct `server.tls`; after a reload the old ones stay in use",
        "store.changed": """
        after an unplanned failover: expect some clients to start over, and see why the \
        standby lacked commits
        """,
        "store.disk_full":
            "free disk space; the server resumes automatically",
        "store.failed":
            "see the reason in the message",
        "store.locked":
            "stop it, or give this server another `server.storage`",
        "store.replaced": """
        put the file back, and the server resumes; else stop the server, put a store in its place, and \
        start it
        """,
        "store.unacceptable":
            "correct the program that sends it",
        "store.unreachable":
            "start the database, or correct the network; the server resumes automatically",
        "store.unusable":
            "correct `server.storage`, install the newer version, or restore a backup",
        "subscription.declared":
            "change it in the configuration, then reload",
        "subscription.file":
            "try again; if it persists, check the disk",
        "subscription.invalid_query":
            "correct the query",
        "subscription.name_taken":
            "choose another name, or update the existing subscription",
        "subscription.not_flexible":
            "configure the realm for flexible sync",
        "subscription.not_found":
            "list the subscriptions to find the right one",
        "subscription.not_open":
            "wait until the realm is open",
        "sync.bad_authentication":
            "`realm-agent users refresh USER`",
        "sync.bad_changeset":
            "nothing, a client reset follows; if it repeats, read the server's log",
        "sync.bad_changeset_header_syntax":
            "run a server and an agent of versions that fit each other",
        "sync.bad_changeset_size":
            "write less in one transaction",
        "sync.bad_client_file":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "sync.bad_client_file_ident":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "sync.bad_client_version":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "sync.bad_decompression":
            "`realm-agent restart REALM`; if it repeats, check proxies between the two",
        "sync.bad_message_order": """
        `realm-agent restart REALM`; if it repeats, run a server and an agent of versions \
        that fit each other
        """,
        "sync.bad_origin_file_ident":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "sync.bad_progress":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "sync.bad_query":
            "correct the query, then `realm-agent reload`",
        "sync.bad_schema_version": """
        make the realm's `schema` fit the server's, then `realm-agent reload` and \
        `realm-agent restart REALM`
        """,
        "sync.bad_server_file_ident":
            "ask the server's operator",
        "sync.bad_server_version":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "sync.bad_session_ident": """
        `realm-agent restart REALM`; if it repeats, run a server and an agent of versions \
        that fit each other
        """,
        "sync.bad_syntax":
            "run a server and an agent of versions that fit each other",
        "sync.bound_in_other_session":
            "look for a copy of the realm's file that another agent syncs",
        "sync.client_file_blacklisted":
            "ask the server's operator",
        "sync.client_file_expired":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "sync.compensating_write":
            "`realm-agent rejects REALM` lists them",
        "sync.connection_closed":
            "nothing, the agent connects again",
        "sync.diverging_histories":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "sync.illegal_realm_path":
            "correct `realms.REALM.partition`, then `realm-agent reload`",
        "sync.initial_sync_not_completed":
            "nothing, the agent retries",
        "sync.invalid_schema_change": """
        make the realm's `schema` fit the server's, then `realm-agent reload` and \
        `realm-agent restart REALM`
        """,
        "sync.limits_exceeded":
            "ask the server's operator",
        "sync.migrate_to_flexible_sync":
            "nothing, the agent follows",
        "sync.no_such_realm":
            "correct `realms.REALM.partition`, then `realm-agent reload`",
        "sync.object_already_exists":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "sync.other_error":
            "nothing, the agent retries; if it repeats, ask the server's operator",
        "sync.other_session_error":
            "nothing, the agent retries; if it repeats, ask the server's operator",
        "sync.partial_sync_disabled":
            "ask the server's operator",
        "sync.permission_denied":
            "let the server's operator grant access, then `realm-agent restart REALM`",
        "sync.reuse_of_session_ident": """
        `realm-agent restart REALM`; if it repeats, run a server and an agent of versions \
        that fit each other
        """,
        "sync.revert_to_partition_based_sync":
            "nothing, the agent follows",
        "sync.schema_version_changed":
            "nothing, the agent follows",
        "sync.server_file_deleted":
            "ask the server's operator",
        "sync.server_permissions_changed":
            "nothing, a client reset follows; with the mode `manual`, `realm-agent reset REALM`",
        "sync.session_closed":
            "nothing, the agent binds again",
        "sync.switch_to_flexible_sync":
            "give the realm `subscriptions` in the place of `partition`, then `realm-agent reload`",
        "sync.switch_to_partition_based_sync": """
        give the realm a `partition` in the place of `subscriptions`, then `realm-agent \
        reload`
        """,
        "sync.token_expired":
            "nothing, the agent refreshes it; if it repeats, set the clocks of both machines",
        "sync.too_many_sessions":
            "nothing, the agent retries; if it repeats, ask the server's operator",
        "sync.transact_before_upload":
            "`realm-agent restart REALM`",
        "sync.unknown_error":
            "ask the server's operator",
        "sync.unknown_message":
            "run a server and an agent of versions that fit each other",
        "sync.unsupported_session_feature":
            "run a server and an agent of versions that fit each other",
        "sync.user_blacklisted":
            "ask the server's operator",
        "sync.user_mismatch":
            "move the realm's file away, then `realm-agent restart REALM`",
        "sync.write_not_allowed":
            "let the server's operator grant access, then `realm-agent restart REALM`",
        "sync.wrong_protocol_version":
            "run a server and an agent of versions that fit each other",
        "verify.busy":
            "verify again when fewer programs write",
        "verify.not_synced":
            "run `realm-agent status`; verify again when the realm is open",
        "verify.refused":
            "run `realm-agent sync REALM`, then verify again",
        "verify.unsupported":
            "update the server; services other than realm-server do not have it",
    ]
}
