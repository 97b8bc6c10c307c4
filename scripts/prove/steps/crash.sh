# shellcheck shell=bash
# Ends that nobody asked for: a kill, a hang, a configuration that does not start.

before=$(process realm-agent)
shell 'systemctl kill --signal=SIGKILL realm-agent'
eventually "a killed agent is started again" \
    shell "p=\$(systemctl show -p MainPID --value realm-agent); [ \$p != 0 ] && [ \$p != $before ] && systemctl is-active realm-agent"
shell 'mkdir -p /run/systemd/system/realm-agent.service.d && printf "[Service]\nWatchdogSec=5s\n" >/run/systemd/system/realm-agent.service.d/watchdog.conf && systemctl daemon-reload && systemctl restart realm-agent'
before=$(process realm-agent)
check "an agent that works is left alone by the watchdog" \
    shell "sleep 12; [ \$(systemctl show -p MainPID --value realm-agent) = $before ]"
shell 'systemctl kill --signal=SIGSTOP realm-agent'
eventually "one that hangs is ended by the watchdog and started again" \
    shell "p=\$(systemctl show -p MainPID --value realm-agent); [ \$p != 0 ] && [ \$p != $before ] && systemctl is-active realm-agent && journalctl -u realm-agent | grep -q 'Watchdog timeout'"
shell 'rm -r /run/systemd/system/realm-agent.service.d && systemctl daemon-reload && systemctl restart realm-agent'
shell 'echo "  stcok: {}" >>/etc/realm-agent.d/20-mirror.yaml'
refuse "an agent with a wrong configuration does not start" inside systemctl restart realm-agent
check "and is not started again and again" \
    shell '[ "$(systemctl show -p NRestarts --value realm-agent)" = 0 ] && systemctl is-failed realm-agent'
check "the journal names the mistake and its place" \
    shell 'journalctl -u realm-agent | grep -q "20-mirror.yaml:[0-9]*:[0-9]*: error:"'
shell 'sed -i /stcok/d /etc/realm-agent.d/20-mirror.yaml && systemctl reset-failed realm-agent && systemctl start realm-agent'
eventually "with the mistake gone it is open again" is_open stock
page look
page bundle
check "the report has no credential in it" shell '! grep -r "correct horse" /root/realm-agent-report'
