import assert from 'node:assert/strict';
import { shadeformTemplates } from '../../../adapters/providers/offers/templates.js';
import { defaultTemplateId, isTemplateId, templates } from '../../../domain/catalog/templates.js';

describe('templates', () => {
  it('are the six of decision 13 and a notebook, ubuntu-24-04 by default', () => {
    assert.deepEqual(
      templates.map((template) => template.id),
      ['ubuntu-24-04', 'pytorch', 'jupyter', 'vllm', 'ollama', 'a1111', 'text-generation-webui'],
    );
    assert.equal(defaultTemplateId, 'ubuntu-24-04');
  });

  it('knows its ids and no others', () => {
    assert.equal(isTemplateId('vllm'), true);
    for (const text of ['', 'VLLM', 'ubuntu', 'constructor']) assert.equal(isTemplateId(text), false, text);
  });

  it('all become something at the provider, and each port told to people is the one that is bound', () => {
    for (const { id, description } of templates) {
      const { container } = shadeformTemplates[id];
      const port = /port (\d+)/.exec(description)?.[1] ?? null;
      const ports = container?.ports.filter((one) => !one.public).map((one) => one.port) ?? [];
      assert.deepEqual(ports, port === null ? [] : [Number(port)], id);
    }
  });
});
