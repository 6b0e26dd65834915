import { join } from 'node:path';
import type { Stack } from './start.js';
import type { StackUrls } from './urls.js';

/** The text that `npm start` prints once all is up: one table, and a story to copy and paste. */
export function describeStack(
  stack: Pick<Stack, 'settings' | 'urls' | 'dashboardUrl' | 'postgresDir'>,
): string {
  const { settings, urls, dashboardUrl, postgresDir } = stack;
  const rows: [string, string][] = [
    ['Dashboard', dashboardUrl ?? 'none: it could not be built (above)'],
    ['API', urls.api],
    ['Temporal UI', urls.temporalUi ?? `none: Temporal is your own, ${urls.temporal}`],
    ['Mail inbox', urls.mail],
    ['Payment processor', `${urls.processor} (its payment page comes with each checkout)`],
    ['GPU provider', urls.provider],
    ['PostgreSQL', urls.database],
    ['Data', settings.dataDir],
    ...(postgresDir === null || postgresDir.startsWith(settings.dataDir)
      ? []
      : ([['Database files', postgresDir]] satisfies [string, string][])),
    ['Logs', join(settings.dataDir, 'logs')],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const line = '-'.repeat(72);
  return [
    '',
    line,
    ...rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    line,
    'The operators’ commands find this stack by themselves (it has two operators, ada and bob):',
    '',
    '  npm run ops -- --help',
    '  npm run ops -- users list',
    '  npm run ops -- --as bob orders',
    ...(urls.temporalUi === null
      ? []
      : [
          '',
          'The rentals in the Temporal UI:',
          `  ${rentalsAt(urls.temporalUi, settings.temporalNamespace)}`,
        ]),
    line,
    'In another terminal, in this folder (docs/cli.md; the code comes to the mail inbox, the card is 4242 4242 4242 4242):',
    '',
    gpuStory(urls),
    line,
    'Or with curl alone (bash; curl, node and ssh are all it takes):',
    '',
    curlStory(urls),
    line,
    'Ctrl-C stops everything; the data stays.',
  ].join('\n');
}

/** The address of the list of rentals' workflows, without the loops and schedules beside them. */
function rentalsAt(temporalUi: string, namespace: string): string {
  const query = encodeURIComponent('WorkflowType = "rental"');
  return `${temporalUi}/namespaces/${namespace}/workflows?query=${query}`;
}

/** One rental by the command `gpu`. */
function gpuStory({ api }: Pick<StackUrls, 'api'>): string {
  return [
    `  export GPU_API_URL=${api}`,
    '  npx gpu login',
    '  npx gpu pay 50',
    '  npx gpu rent h100-80gb --gpus 8 --hours 2',
    '  npx gpu ssh -- nvidia-smi',
    '  npx gpu watch',
    '  npx gpu stop',
  ].join('\n');
}

/** One rental from the sign-in to the last cent, as a shell script. */
export function curlStory(urls: Pick<StackUrls, 'api' | 'mail'>, email = 'ann@example.com'): string {
  return `API=${urls.api} MAIL=${urls.mail} DIR=$(mktemp -d)
field() { node -pe "JSON.parse(require('fs').readFileSync(0, 'utf8'))$1"; }
get() { curl -sSw '\\n' -b "$DIR/jar" -c "$DIR/jar" "$API$1"; }
post() { curl -sSw '\\n' -b "$DIR/jar" -c "$DIR/jar" -H 'content-type: application/json' -d "$2" "$API$1"; }

# Sign in with the code that comes by mail.
post /v1/auth/request-code '{"email":"${email}"}'; sleep 2
CODE=$(curl -sS "$MAIL/mails?to=${email}" | field '.mails[0].text.match(/\\b\\d{6}\\b/)[0]')
post /v1/auth/verify-code '{"email":"${email}","code":"'$CODE'"}'

# Top up 50 dollars: pay on the page, in a browser or like this.
PAGE=$(post /v1/billing/checkout '{"amountCents":5000}' | field .checkoutUrl); echo "$PAGE"
curl -sS -o /dev/null -w '%{http_code} %{redirect_url}\\n' -d 'cardNumber=4242424242424242&cardExpiry=12/34&cardCvc=123' "$PAGE"; sleep 2
get /v1/billing/balance

# Rent a machine and wait until its SSH daemon answers.
ssh-keygen -q -t ed25519 -N '' -f "$DIR/key"
post /v1/ssh-keys '{"name":"laptop","publicKey":"'"$(cat "$DIR/key.pub")"'"}'
RENTAL=$(post /v1/rentals '{"familyId":"h100-80gb","gpuCount":8}' | field .id)
while [ "$(get /v1/rentals/$RENTAL | field .status)" = provisioning ]; do sleep 2; done
get /v1/rentals/$RENTAL | tee "$DIR/rental"

# Enter it.
ssh -i "$DIR/key" -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile="$DIR/known_hosts" \\
  -p "$(field .port < "$DIR/rental")" "$(field .username < "$DIR/rental")@$(field .host < "$DIR/rental")" nvidia-smi

# See it being billed, stop it, and see that every cent adds up.
sleep 5; get "/v1/billing/ledger?pageSize=5"
post /v1/rentals/$RENTAL/stop '{}'
get "/v1/billing/ledger?pageSize=5"; get /v1/billing/balance`;
}
