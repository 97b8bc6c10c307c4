# shellcheck shell=bash
# The metrics of both programs, and a Prometheus that collects them.

page metrics
page prometheus
# series EXPRESSION: Prometheus has one.
series() { shell "promtool query instant http://127.0.0.1:9091 '$1' | grep -q '=>'"; }
eventually "Prometheus reaches the server" series 'up{job="realm-server"} == 1'
eventually "and the agent" series 'up{job="realm-agent"} == 1'
eventually "it has the states of the realms" series 'realm_agent_realms{state="open"} > 0'
page first-series
check "it has loaded the rules of both packages" shell \
    'curl --silent http://127.0.0.1:9091/api/v1/rules | grep RealmServerDown | grep -q RealmAgentDown'
shell 'systemctl disable --now prometheus; rm /etc/realm-server.d/20-metrics.yaml /etc/realm-agent.d/20-metrics.yaml
    systemctl restart realm-server realm-agent'
eventually "without metrics everything is as it was" is_open stock
