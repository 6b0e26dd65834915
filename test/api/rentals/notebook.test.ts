import assert from 'node:assert/strict';
import { providersFor } from '../../../activities/rentals/allocation.js';
import { notebookTokenOf } from '../../../adapters/notebook-token.js';
import type { Provider } from '../../../adapters/providers/provider.js';
import { keeperOf, refuseNotebook } from '../../../api/rentals/software-fields.js';
import { defaultSettings } from '../../../api/settings.js';
import type { RentalId } from '../../../domain/ids.js';
import { noSoftware } from '../../../domain/rentals/software.js';
import { Refusal } from '../../../domain/refusal.js';
import { notebookTemplateId } from '../../../domain/rentals/notebook.js';

const key = Buffer.alloc(32, 1).toString('base64');

describe('the token of a notebook', () => {
  it('is another one for each rental and each installation', () => {
    const [one, other] = ['rent_1', 'rent_2'] as RentalId[];
    const tokens = [
      notebookTokenOf(key, one!),
      notebookTokenOf(key, other!),
      notebookTokenOf(Buffer.alloc(32, 2).toString('base64'), one!),
    ];
    assert.equal(new Set(tokens).size, 3);
    assert.equal(notebookTokenOf(key, one!), tokens[0]);
    for (const token of tokens) assert.match(token, /^[0-9a-f]{64}$/);
  });

  it('is the machine’s own: variables that would set another are refused, not dropped', () => {
    const keeper = { makesTokens: true, seal: () => assert.fail('nothing is kept') };
    const ask = (templateId: string, name: string) => () =>
      refuseNotebook(templateId, { ...noSoftware, env: { [name]: 'planted' } }, keeper);
    for (const name of ['JUPYTER_TOKEN', 'JUPYTER_PASSWORD']) {
      assert.throws(ask(notebookTemplateId, name), (error) => {
        assert.ok(error instanceof Refusal);
        assert.equal(error.code, 'validation_failed');
        assert.match(JSON.stringify(error.details), new RegExp(`"field":"env".*${name}`));
        return !JSON.stringify(error).includes('planted');
      });
      assert.doesNotThrow(ask('pytorch', name));
    }
    assert.doesNotThrow(ask(notebookTemplateId, 'TOKEN'));
  });

  it('needs a key, without which the API sells no notebook and the worker starts none', () => {
    const withKey = (installationKey: string) => ({ ownSoftware: { graceMs: 1, installationKey } });
    const refuse = (installationKey: string, templateId: string) => () =>
      refuseNotebook(
        templateId,
        undefined,
        keeperOf({ settings: { ...defaultSettings, ...withKey(installationKey) } }),
      );
    assert.throws(
      refuse('', notebookTemplateId),
      (error) => error instanceof Refusal && error.code === 'software_unsupported',
    );
    assert.doesNotThrow(refuse('', 'pytorch'));
    assert.doesNotThrow(refuse(key, notebookTemplateId));

    const provider = {
      code: 'lab',
      templates: new Set([notebookTemplateId, 'pytorch']),
    } as unknown as Provider;
    const sellersOf = (installationKey: string, templateId: string) =>
      providersFor(
        { providers: new Map([['lab', provider]]), settings: { installationKey } as never },
        { templateId },
      );
    assert.deepEqual(sellersOf('', notebookTemplateId), []);
    assert.deepEqual(sellersOf('', 'pytorch'), ['lab']);
    assert.deepEqual(sellersOf(key, notebookTemplateId), ['lab']);
  });
});
