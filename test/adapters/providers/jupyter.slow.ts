import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Dialect } from '../../../adapters/providers/offers/gpu-models.js';
import { createProber } from '../../../adapters/providers/ssh/prober.js';
import { notebookPort, notebookTemplateId } from '../../../domain/rentals/notebook.js';
import { notebookProgram } from '../../../lab/provider/notebook.js';
import type { LabPod } from '../../../lab/provider/state.js';
import { readStackSettings } from '../../../lab/stack/settings.js';
import { findPythonEnvironment } from '../../../tools/verify-api/python-package.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import {
  lambdaRequestOf,
  requestOf,
  runpodRequestOf,
  startLivingLab,
  untilActive,
  vastRequestOf,
  type LivingLab,
} from '../../lab/provider/living-lab.js';
import { until } from '../../support/until.js';

const run = promisify(execFile);
const wanted = ['jupyterlab==4.6.6', 'ipykernel==7.4.0'];
const requests = {
  shadeform: requestOf,
  runpod: runpodRequestOf,
  vast: vastRequestOf,
  lambda: lambdaRequestOf,
} as const satisfies Partial<Record<Dialect, unknown>>;
const token = randomBytes(32).toString('hex');

/** Starts what the image of the script's container starts by itself, and writes down what it was asked for. */
const docker = `#!/bin/sh
[ "$1 $2" = "run -d" ] || exit 0
while [ $# -gt 1 ]; do
  case $1 in -p) port=$2 ;; -e) export "$2" ;; esac
  shift
done
echo "$port $1" > "$HOME/asked"
jupyter lab --ServerApp.ip= --no-browser --allow-root > jupyter.log 2>&1 &
`;

/** Starts what RunPod's own image starts where it finds a password. */
const runpodStart = `[ -n "$JUPYTER_PASSWORD" ] || exit 1
nohup jupyter lab --allow-root --no-browser --ip=* --FileContentsManager.delete_to_trash=False \\
  --ServerApp.terminado_settings='{"shell_command":["/bin/bash"]}' --ServerApp.token=$JUPYTER_PASSWORD \\
  --ServerApp.allow_origin=* --ServerApp.preferred_dir="$HOME" > jupyter.log 2>&1 &`;

/** Runs one cell as a browser does, and asks without the token too. */
const runCell = `import json, sys, urllib.request, uuid, websocket
from jupyter_server.serverapp import DEFAULT_JUPYTER_SERVER_PORT
at, auth = sys.argv[1], {"Authorization": "token " + sys.argv[2]}
kernel = json.load(urllib.request.urlopen(urllib.request.Request(f"http://{at}/api/kernels", b"{}", auth)))
url = f"ws://{at}/api/kernels/{kernel['id']}/channels"
try:
    websocket.create_connection(url, timeout=20, origin=f"http://{at}")
    refused = None
except websocket.WebSocketBadStatusException as error:
    refused = error.status_code
socket = websocket.create_connection(url, timeout=20, origin=f"http://{at}", header=auth)
header = {"msg_id": uuid.uuid4().hex, "session": uuid.uuid4().hex, "username": "", "msg_type": "execute_request", "version": "5.3"}
content = {"code": "print(6 * 7)", "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
socket.send(json.dumps({"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell", "buffers": []}))
said = None
while said is None:
    told = json.loads(socket.recv())
    if told["header"]["msg_type"] == "stream":
        said = told["content"]["text"].strip()
print(json.dumps({"port": DEFAULT_JUPYTER_SERVER_PORT, "refused": refused, "said": said}))`;

interface Machine {
  readonly at: string;
  readonly port: number;
  readonly home: string;
}

/** Jupyter as PyPI has it, started by what each upstream's machine is told, in place of the lab's stand-in. */
describe('a real Jupyter', function () {
  this.timeout(120_000);
  const started: ChildProcess[] = [];
  let python: string;
  let lab: LivingLab;
  let folder: string;

  before(async function () {
    this.timeout(300_000);
    const { cliPlaces } = readStackSettings(process.env);
    const found = await findPythonEnvironment('jupyter-4.6.6', wanted, cliPlaces, () => undefined).catch(
      (error: unknown) => void process.stderr.write(`left out: ${String(error)}\n`),
    );
    folder = mkdtempSync(join(tmpdir(), 'jupyter-'));
    lab = await startLivingLab();
    if (found === undefined) return this.skip();
    python = found;
  });
  after(async () => {
    for (const { pid } of started) if (pid !== undefined) killGroup(pid);
    await lab.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  /** Starts a program of a machine, with that machine's variables alone. */
  async function start(name: string, line: string, variables: Record<string, string>): Promise<Machine> {
    const [port = 0] = await findFreePorts(1);
    const home = join(folder, name);
    mkdirSync(join(home, 'bin'), { recursive: true });
    writeFileSync(join(home, 'bin', 'docker'), docker, { mode: 0o755 });
    writeFileSync(join(home, 'bin', 'lab-notebook'), notebookProgram, { mode: 0o755 });
    const jupyter = `#!/bin/sh\n[ "$1" = lab ] && shift && exec ${python} -m jupyterlab "$@"\n`;
    writeFileSync(join(home, 'bin', 'jupyter'), jupyter, { mode: 0o755 });
    const PATH = `${join(home, 'bin')}:/usr/local/bin:/usr/bin:/bin`;
    // Its own port may be taken here.
    const script = line.replaceAll(`--port=${notebookPort.port}`, `--port=${port}`);
    const env = { ...variables, JUPYTER_PORT: String(port), PATH, HOME: home, LANG: 'C.UTF-8' };
    started.push(spawn('bash', ['-c', script], { cwd: home, env, detached: true, stdio: 'ignore' }));
    const machine = { at: `127.0.0.1:${port}`, port, home };
    const log = (): string =>
      existsSync(join(home, 'jupyter.log')) ? readFileSync(join(home, 'jupyter.log'), 'utf8') : '';
    const isThere = () => createProber(0).answers({ url: null, host: '127.0.0.1', port }, true);
    await until('the probe of ports sees it', isThere, 60_000).catch((error: unknown) => {
      throw new Error(log(), { cause: error });
    });
    return machine;
  }

  async function startAt(dialect: keyof typeof requests): Promise<Machine> {
    const asked = requests[dialect]({ templateId: notebookTemplateId, notebookToken: token });
    await lab.of(dialect).allocate(asked);
    await untilActive(lab.of(dialect), asked.tag);
    const pod = (await lab.state()).pods.find(({ name }) => name === asked.tag);
    assert.ok(pod);
    return start(dialect, lineOf(pod), Object.fromEntries(pod.envs.map(({ name, value }) => [name, value])));
  }

  for (const dialect of Object.keys(requests) as (keyof typeof requests)[]) {
    it(`opens by the token that ${dialect}’s machine was given, and runs a cell`, async () => {
      const { at, home } = await startAt(dialect);
      assert.deepEqual(await answersOf(at), asJupyter);
      assert.equal(
        await createProber(0).answers({ url: `http://${at}/`, host: null, port: null }, true),
        true,
      );
      const { stdout } = await run(python, ['-c', runCell, at, token], {
        env: { HOME: home },
        timeout: 60_000,
      });
      assert.deepEqual(JSON.parse(stdout), { port: notebookPort.port, refused: 403, said: '42' });
      if (existsSync(join(home, 'asked'))) {
        const [published, image] = readFileSync(join(home, 'asked'), 'utf8').trim().split(' ');
        assert.equal(published, `127.0.0.1:${notebookPort.port}:${notebookPort.port}`);
        assert.match(image ?? '', /^quay\.io\/jupyter\//);
      }
    });
  }

  it('is asked and answers as its stand-in in the lab', async () => {
    const line = 'exec lab-notebook 127.0.0.1 $JUPYTER_PORT';
    const { at } = await start('stand-in', line, { JUPYTER_TOKEN: token });
    assert.deepEqual(await answersOf(at), asJupyter);
  });
});

/** What the machine of a pod runs to have its notebook. */
function lineOf({ base64Script, os }: LabPod): string {
  if (os.startsWith('runpod/pytorch:')) return runpodStart;
  return Buffer.from(base64Script ?? '', 'base64').toString('utf8');
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const toLogin = [302, '/login?next=%2Flab'];
const asJupyter = {
  ...{
    start: [302, '/lab?'],
    stranger: toLogin,
    wrongToken: toLogin,
    token: [200, null],
    inQuery: [200, null],
  },
  ...{
    kernelsOfStranger: [403, null],
    form: [200, null],
    withoutForm: [403, null],
    wrongPassword: [401, null],
  },
  ...{ password: [302, '/lab'], signedIn: [200, null] },
};

/** Asks for the pages by which a notebook is opened, and answers with the status and place of each. */
async function answersOf(at: string): Promise<Record<keyof typeof asJupyter, unknown>> {
  const ask = async (path: string, headers: Record<string, string> = {}, form?: Record<string, string>) => {
    const body = form && new URLSearchParams(form);
    const init = { redirect: 'manual', headers, ...(body && { method: 'POST', body }) } as const;
    const answer = await fetch(`http://${at}${path}`, init);
    const text = await answer.text();
    const cookie = answer.headers.getSetCookie().map((line) => line.split(';')[0]);
    return { told: [answer.status, answer.headers.get('location')], text, cookie: cookie.join('; ') };
  };
  const form = await ask('/login?next=%2Flab');
  const _xsrf = /name="_xsrf" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
  assert.match(form.text, /Password or token:/);
  const send = (password: string) => ask('/login?next=%2Flab', { cookie: form.cookie }, { _xsrf, password });
  const wrong = await send('not the token');
  assert.match(wrong.text, /Invalid credentials/);
  const password = await send(token);
  return {
    start: (await ask('/')).told,
    stranger: (await ask('/lab')).told,
    wrongToken: (await ask('/lab', { authorization: 'token x' })).told,
    token: (await ask('/lab', { authorization: `token ${token}` })).told,
    inQuery: (await ask(`/lab?token=${token}`)).told,
    kernelsOfStranger: (await ask('/api/kernels')).told,
    form: form.told,
    withoutForm: (await ask('/login', {}, { password: token })).told,
    wrongPassword: wrong.told,
    password: password.told,
    signedIn: (await ask('/lab', { cookie: password.cookie })).told,
  };
}
