import assert from 'node:assert/strict';
import { request } from 'node:http';
import ssh2 from 'ssh2';
import type { AllocationRequest, Pod } from '../../../adapters/providers/provider.js';
import { noSoftware } from '../../../domain/rentals/software.js';
import { notebookPort, notebookTemplateId } from '../../../domain/rentals/notebook.js';
import {
  lambdaRequestOf,
  newRenterKey,
  requestOf,
  runpodRequestOf,
  startLivingLab,
  until,
  untilActive,
  vastRequestOf,
  type LivingLab,
} from '../../lab/provider/living-lab.js';

const requests = {
  shadeform: requestOf,
  runpod: runpodRequestOf,
  vast: vastRequestOf,
  lambda: lambdaRequestOf,
};
const token = 'ab'.repeat(32);
const key = newRenterKey();
const port = { ...notebookPort, public: true };

describe('the notebook', function () {
  this.timeout(30_000);
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());

  function rent(dialect: keyof typeof requests, change: Partial<AllocationRequest> = {}) {
    const wish = { templateId: notebookTemplateId, notebookToken: token, publicKeys: [key.line], ...change };
    const asked = requests[dialect](wish);
    return lab
      .of(dialect)
      .allocate(asked)
      .then(() => untilActive(lab.of(dialect), asked.tag));
  }

  for (const dialect of Object.keys(requests) as (keyof typeof requests)[]) {
    it(`is started by ${dialect}, and reached through SSH with its token alone`, async () => {
      const pod = await rent(dialect);
      const signedIn = await until('it answers', () => throughSsh(pod, { authorization: `token ${token}` }));
      assert.deepEqual([signedIn.status, signedIn.text.includes('<h1>JupyterLab')], [200, true]);
      const stranger = await throughSsh(pod, {});
      assert.deepEqual([stranger?.status, stranger?.location], [302, '/login?next=%2Flab']);
      // Nothing of it is open to anybody else.
      assert.deepEqual(
        (pod.ports ?? []).filter(({ port: open }) => open !== 22),
        [],
      );
    });
  }

  it('is open to everybody behind RunPod’s proxy where it is public', async () => {
    const pod = await rent('runpod', { software: { ...noSoftware, ports: [port] } });
    const url = pod.ports?.find(({ url }) => url !== null)?.url ?? '';
    const answer = await until('it answers', async () => {
      const page = await fetch(url, { headers: { authorization: `token ${token}` } });
      return page.status === 200 ? page.text() : undefined;
    });
    assert.match(answer, /JupyterLab/);
    assert.match(await (await fetch(url)).text(), /Password or token/);
  });

  it('keeps its own token, whatever variables its renter brings', async () => {
    const env = { JUPYTER_TOKEN: 'theirs', JUPYTER_PASSWORD: 'theirs' };
    for (const dialect of ['shadeform', 'runpod'] as const) {
      const pod = await rent(dialect, { software: { ...noSoftware, env } });
      const signedIn = () => throughSsh(pod, { authorization: `token ${token}` });
      assert.equal((await until('it answers', signedIn)).status, 200, dialect);
    }
  });

  interface Answer {
    readonly status: number | undefined;
    readonly location: string | undefined;
    readonly text: string;
  }

  /** Asks for a page as `gpu notebook` leads there; undefined while nobody answers. */
  async function throughSsh(
    { host, port: sshPort, username }: Pod,
    headers: Record<string, string>,
  ): Promise<Answer | undefined> {
    const client = new ssh2.Client();
    try {
      await new Promise<void>((resolve, reject) => {
        client.once('ready', resolve).once('error', reject);
        client.connect({ host: host!, port: sshPort!, username: username!, privateKey: key.pem });
      });
      const channel = await new Promise<ssh2.ClientChannel | undefined>((resolve) => {
        client.forwardOut('127.0.0.1', 0, '127.0.0.1', notebookPort.port, (error, opened) =>
          resolve(error ? undefined : opened),
        );
      });
      return channel && (await ask(channel, headers));
    } finally {
      client.end();
    }
  }
});

function ask(channel: ssh2.ClientChannel, headers: Record<string, string>) {
  return new Promise<{ status: number | undefined; location: string | undefined; text: string }>(
    (resolve, reject) => {
      request({ path: '/lab', headers, createConnection: () => channel }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () =>
          resolve({ status: answer.statusCode, location: answer.headers.location, text }),
        );
      })
        .on('error', reject)
        .end();
    },
  );
}
