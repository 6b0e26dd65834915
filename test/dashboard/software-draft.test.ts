import assert from 'node:assert/strict';
import { requestOf } from '../../clients/dashboard/src/pages/rent/offers.js';
import {
  isFaulty,
  noSoftware,
  readDraft,
  type PortLine,
  type SoftwareDraft,
} from '../../clients/dashboard/src/pages/rent/software-draft.js';

const read = (fields: Partial<SoftwareDraft>) => readDraft({ ...noSoftware.draft, ...fields });
const line = (fields: Partial<PortLine>): PortLine => ({
  ...{ no: 0, name: '', port: '', kind: 'http', isPublic: false },
  ...fields,
});

describe('own software as it is typed', () => {
  it('is nothing while nothing is typed', () => {
    const { asked, faults } = read({ ports: [line({})], args: '\n', env: '# none\n\n' });
    assert.deepEqual(asked, {});
    assert.equal(isFaulty(faults), false);
  });

  it('asks to replace the entrypoint of an image once there is what runs instead', () => {
    const image = 'ghcr.io/ada/page:1';
    for (const started of [{ args: 'serve' }, { startScript: 'echo 1\n' }]) {
      const { asked, faults } = read({ image, replaces: true, ...started });
      assert.deepEqual([asked.entrypoint, isFaulty(faults)], ['replace', false]);
      assert.equal(read({ image, ...started }).asked.entrypoint, undefined);
    }
    const nothing = read({ image, replaces: true });
    assert.deepEqual([nothing.asked, nothing.faults.entrypoint], [{ image }, true]);
    const noImage = read({ replaces: true, startScript: 'echo 1\n' });
    assert.deepEqual([noImage.asked.entrypoint, isFaulty(noImage.faults)], [undefined, false]);
  });

  it('becomes what the service is asked for, and takes values as they are', () => {
    const { asked, faults } = read({
      ...{ image: ' ghcr.io/ada/page:1 ', username: 'ada', password: ' s3cret ', diskGb: '２００' },
      ...{
        args: '--port\r\n8080\n\n',
        env: '# the model\nTOKEN="a=b" \r\n\nEMPTY=',
        startScript: 'echo 1\n',
      },
      ports: [line({ name: 'page', port: '8080', isPublic: true }), line({ no: 1 })],
    });
    assert.equal(isFaulty(faults), false);
    assert.deepEqual(asked, {
      ...{ image: 'ghcr.io/ada/page:1', registryAuth: { username: 'ada', password: ' s3cret ' } },
      ...{ args: ['--port', '8080'], env: { TOKEN: '"a=b" ', EMPTY: '' }, startScript: 'echo 1\n' },
      ports: [{ name: 'page', port: 8080, kind: 'http', public: true }],
      diskGb: 200,
    });
  });

  it('leaves out what is not right, and tells where', () => {
    const { asked, faults } = read({
      ...{ username: 'ada', env: 'A=1\n=2\nB', diskGb: '2001' },
      ports: ['22', '0', '65536', '8o', ''].map((port, no) => line({ no, name: 'page', port })),
    });
    assert.deepEqual(asked, { env: { A: '1' } });
    assert.deepEqual(faults, {
      ...{ registryAuth: true, entrypoint: false, envLine: 2, diskGb: true },
      ports: new Set([0, 1, 2, 3, 4]),
    });
    assert.deepEqual(read({ ports: [line({ name: 'Page', port: '80' })] }).faults.ports, new Set([0]));
    for (const only of [{ username: 'a' }, { env: 'A' }, { diskGb: 'x' }, { ports: [line({ port: '1' })] }]) {
      assert(isFaulty(read(only).faults), JSON.stringify(only));
    }
  });

  it('runs an image instead of the template that was chosen', () => {
    const asked = { image: 'ghcr.io/ada/page:1' };
    assert.deepEqual(requestOf('l4', 1, { template: 'vllm' }, [], asked), {
      ...{ familyId: 'l4', gpuCount: 1, sshKeyIds: [], image: 'ghcr.io/ada/page:1' },
    });
    assert.equal(requestOf('l4', 1, { template: 'vllm' }, [], { diskGb: 9 }).templateId, 'vllm');
  });
});
