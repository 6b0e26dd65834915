import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  inStopOrder,
  interpolate,
  millisecondsOf,
  readComposeFile,
  servicesOf,
} from '../../../tools/compose/compose-file.js';
import { containerArgs } from '../../../tools/compose/podman.js';

describe('the runner’s reading of a compose file', () => {
  it('fills variables in as docker compose does', () => {
    const filled = (text: string): string => interpolate(text, { SET: 'a', EMPTY: '' });
    assert.equal(filled('${SET}, ${EMPTY}, ${MISSING}'), 'a, , ');
    assert.equal(filled('${SET:-b}, ${EMPTY:-b}, ${MISSING:-b}'), 'a, b, b');
    assert.equal(filled('$${SET}'), '${SET}');
    assert.equal(filled('${SET:?tell}'), 'a');
    assert.throws(() => filled('${EMPTY:?tell who}'), /EMPTY must be set: tell who/);
  });

  it('hands a variable without a value on only when it is set', () => {
    const text =
      'services: { one: { image: "a:1", networks: [n], environment: { GIVEN: , ABSENT: , NUMBER: 5 } } }';
    const { services } = readComposeFile(text, { GIVEN: 'x' });
    assert.deepEqual(services['one']?.environment, { GIVEN: 'x', NUMBER: '5' });
  });

  it('starts what has no profile, and what a named one asks for; stops dependents first', () => {
    const text = `
services:
  low: { image: 'a:1', networks: [n] }
  high: { image: 'a:1', networks: [n], depends_on: { mid: { condition: service_started } } }
  mid: { image: 'a:1', networks: [n], depends_on: { low: { condition: service_healthy } } }
  extra: { image: 'a:1', networks: [n], profiles: [more] }
`;
    const file = readComposeFile(text, {});
    assert.deepEqual(servicesOf(file, []), ['low', 'high', 'mid']);
    assert.deepEqual(servicesOf(file, ['more']), ['low', 'high', 'mid', 'extra']);
    assert.deepEqual(inStopOrder(file, ['low', 'high', 'mid']), ['high', 'mid', 'low']);
  });

  it('reads durations, and refuses what is none', () => {
    assert.deepEqual(['500ms', '45s', '1m30s'].map(millisecondsOf), [500, 45_000, 90_000]);
    assert.throws(() => millisecondsOf('soon'), /"soon" is no duration/);
  });

  it('leaves no lock of a service out of what podman is told', () => {
    const text = readFileSync(new URL('../../../docker-compose.yml', import.meta.url), 'utf8');
    const needed = [...text.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name = '']) => [name, 'x']);
    const file = readComposeFile(text, Object.fromEntries(needed) as Record<string, string>);
    const service = file.services['api'];
    assert.ok(service);
    const place = { projectDir: '/project', limitMemory: true, cgroupParent: '/run-1' };
    const told = containerArgs({ name: 'api', service, ...place }).join(' ');
    for (const part of [
      ...['--cap-drop ALL', '--security-opt no-new-privileges', '--read-only ', '--read-only-tmpfs=false'],
      ...['--memory 1g', '--init', '--stop-timeout 45', '--publish 127.0.0.1:8080:8080'],
      ...['--network database:alias=api', '--network front:alias=api', '--tmpfs /tmp:rw,noexec'],
    ]) {
      assert.ok(told.includes(part), `${part} in: ${told}`);
    }
    const schema = file.services['temporal-schema'];
    assert.ok(schema);
    const mounted = containerArgs({ name: 'temporal-schema', service: schema, ...place });
    assert.ok(mounted.includes('/project/ops/temporal:/ops:ro'), mounted.join(' '));
  });
});
