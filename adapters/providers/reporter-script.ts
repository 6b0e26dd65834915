import { keptAliveWords, machineKeepAlivePath, machineUsePath } from '../../domain/machines/calls.js';
import { useFields, useHeader } from '../../domain/machines/use-report.js';
import type { ReportTarget } from './proof-script.js';

const query = `--query-gpu=${useFields.join(',')} --format=csv,noheader,nounits`;

/**
 * Makes the lines, for any POSIX shell, by which a machine tells each minute how much it is used (decision 181, "A reporter
 * of use"). They run beside all that follows, in a shell of their own, until the machine ends. Six samples of the GPUs make
 * a report. Whoever does not take it is asked a moment later, and then ever more rarely. What it answers goes to all who
 * are logged in, once, and to a file that whoever logs in later is shown. Beside it lies the command that keeps the machine
 * alive (decision 186, "Kept alive from within"): in the home of whoever is not root.
 * @param target.url of the route that takes reports of use
 */
export function reporterLines({ url, token }: ReportTarget): string[] {
  return [
    `(trap '' HUP`,
    ...keepAliveLines({ url: url.replace(machineUsePath, machineKeepAlivePath), token }),
    `a='Authorization: Bearer ${token}' c='Content-Type: text/plain' u='${url}'`,
    'p=0 q=0 r=0 t=0 w=0 l=',
    'send() {',
    'if command -v curl > /dev/null; then echo "header=\\"$a\\"" | curl -K - -fsm 9 -H "$c" --data-binary "$b" "$u"',
    'else wget -qT 9 -O - --header "$a" --header "$c" --post-data "$b" "$u"; fi',
    '}',
    // A tunnel of root has one process alone, with the title that a login under way has beside its helper: one look may see
    // one of those two alone.
    `count() { printf '%s\\n' "$o" | grep -c "^sshd[^ ]*: $1$"; }`,
    'look() {',
    `o=$(cat /proc/[0-9]*/cmdline | tr '\\0' '\\n')`,
    `e=$v v=$(($(count 'root \\[priv]') - $(count 'root \\[net]')))`,
    '}',
    'while :; do',
    'g= v=0',
    'for i in 1 2 3 4 5 6; do',
    'read -r s x < /proc/uptime',
    's=${s%.*}',
    'sleep $((10 - s % 10))',
    'look',
    'g="$g',
    '-',
    `$(timeout -k 1 8 nvidia-smi ${query} 2>&1 | head -n 16 | cut -c 1-36)"`,
    'done',
    'read -r s x < /proc/uptime',
    's=${s%.*}',
    'read -r x n1 n2 n3 n4 n5 n6 n7 n8 x < /proc/stat',
    'k=$((n1 + n2 + n3 + n6 + n7 + n8)) h=$((k + n4 + n5))',
    `m=$(awk '/^MemTotal/{t=$2}/^MemAvailable/{print int(100-100*$2/t)}' /proc/meminfo)`,
    `n=$(awk 'NR>2{sub(/:/," ")}NR>2&&!/^ *(lo|docker|br-|veth)/{s+=$2+$10}END{printf "%.0f",s}' /proc/net/dev)`,
    '[ $v -lt $e ] || v=$e',
    '[ $v -gt 0 ] || v=0',
    `o=$(($(count '[^][ /]*\\(@.*\\)*') + v))`,
    `b="${useHeader} $s $((100 * (k - p) / (h - q))) $m \${n:+$(((n - r) / (s - t)))} $o$g"`,
    'p=$k q=$h r=$n t=$s',
    'if y=$(send) || { sleep 7; y=$(send); }; then',
    'w=0',
    '[ "$y" = "$l" ] || {',
    'l=$y; rm -f "$F"',
    '[ -z "$y" ] || {',
    'y="$y',
    'Or here: $K 2h"',
    'echo "$y" | wall; echo "$y" > "$F"; }; }',
    'else sleep $w; w=$((w * 2 + 60)); [ $w -lt 960 ] || w=960; fi',
    'done) > /dev/null 2>&1 < /dev/null &',
  ];
}

function keepAliveLines({ url, token }: ReportTarget): string[] {
  return [
    // Whoever logs in beside root has to run it, too.
    'K=/usr/local/bin/gpu-keep-alive F=/run/motd.d/gpu-idle M=755',
    '[ "$(id -u)" = 0 ] && mkdir -p /run/motd.d || K=~/gpu-keep-alive F=~/gpu-idle M=700',
    `cat > "$K" << 'E'`,
    '#!/bin/sh',
    `a='Authorization: Bearer ${token}' c='Content-Type: text/plain' u='${url}' b=\${1:-2h}`,
    'y=$(if command -v curl > /dev/null; then echo "header=\\"$a\\"" | curl -K - -sm 9 -H "$c" --data-raw "$b" "$u"',
    'else wget -qT 9 -O - --content-on-error --header "$a" --header "$c" --post-data "$b" "$u"; fi)',
    'case $y in',
    // A proxy in front may answer as well, with any status.
    `'${keptAliveWords}'*) echo "$y"; exit ;;`,
    `*'"message":"'*) y=\${y#*'"message":"'}; echo "\${y%%'"'*}" ;;`,
    `*) echo 'Nobody answers. Try again in a minute.' ;;`,
    'esac',
    'exit 1',
    'E',
    'chmod $M "$K"',
  ];
}
