import assert from 'node:assert/strict';
import { describedOperations, document, faultOf, faultOfNewer } from '../../support/http/described.js';
import { newerAnswers, UNKNOWN_WORD } from '../../support/http/newer.js';

/** Where a part of the description names single values, with the place. */
function* closedLists(part: unknown, at: string): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  const { 'x-open': isOpen, enum: values, ...rest } = part as Record<string, unknown>;
  if (isOpen === true) return;
  if (values !== undefined) yield at;
  for (const [key, value] of Object.entries(rest)) {
    if (!/^examples?$/.test(key)) yield* closedLists(value, `${at}/${key}`);
  }
}

/** A part with the named schemas in the place of the references to them. */
function named(part: unknown): unknown {
  return JSON.parse(JSON.stringify(part ?? null), (_key, value: unknown) => {
    const { $ref } = (value ?? {}) as { $ref?: string };
    return $ref === undefined ? value : named(document.components.schemas[$ref.split('/').at(-1)!]);
  });
}

describe('the lists of words', () => {
  const operations = [...describedOperations()];

  it('of answers are open, and those of requests closed', () => {
    for (const [route, { parameters = [], requestBody, responses }] of operations) {
      assert.deepEqual([...closedLists(named(responses), route)], []);
      assert.ok(!JSON.stringify(named([parameters, requestBody])).includes('"x-open"'), route);
    }
  });

  it('let every answer tell a word that is not described, where this service never does', () => {
    const all = newerAnswers().filter(({ body }) => JSON.stringify(body).includes(UNKNOWN_WORD));
    // A refusal is described in the same way wherever it may be answered.
    const told = new Map(all.map((one) => [one.status < 300 ? one : JSON.stringify(one.schema), one]));
    assert.ok(told.size > 80, `${told.size} answers hold a word of a list`);
    for (const { operationId, status, schema, body } of told.values()) {
      assert.equal(faultOfNewer(schema, body), undefined, `${operationId} ${status}`);
      assert.notEqual(faultOf(schema, body), undefined, `${operationId} ${status}`);
    }
  });
});
