import assert from 'node:assert/strict';
import { hoisted } from '../../../api/http/openapi/hoist.js';
import { definitionOf, named, object, orNull, text, whole } from '../../../api/http/openapi/json-schema.js';
import { pageOf } from '../../../api/http/openapi/operation.js';
import { describedOperations, document } from '../../support/http/described.js';

const cat = named('Cat', object({ name: text }));

const namedIn = (part: unknown) => hoisted(part).schemas;

/** Every object of a description that has properties and stands where it is used, with the place. */
function* inlineObjects(part: unknown, at: string): Generator<readonly [string, string]> {
  if (typeof part !== 'object' || part === null) return;
  const { type, properties, then } = part as Record<string, unknown>;
  if (type === 'object' && properties !== undefined && then === undefined) yield [JSON.stringify(part), at];
  for (const [key, value] of Object.entries(part)) {
    if (key !== 'examples' && key !== 'example') yield* inlineObjects(value, `${at}/${key}`);
  }
}

describe('named schemas', () => {
  it('are referred to, and kept once', () => {
    const found = hoisted({ one: cat, list: { type: 'array', items: cat } });
    const $ref = '#/components/schemas/Cat';
    assert.deepEqual(found.part, { one: { $ref }, list: { type: 'array', items: { $ref } } });
    assert.deepEqual(found.schemas, { Cat: object({ name: text }) });
  });

  it('may stand in one another, and in themselves', () => {
    const holder: Record<string, unknown> = { cat };
    const herd = named('Herd', holder);
    holder['herd'] = herd;
    assert.deepEqual(namedIn(herd), {
      Cat: object({ name: text }),
      Herd: { cat: { $ref: '#/components/schemas/Cat' }, herd: { $ref: '#/components/schemas/Herd' } },
    });
  });

  it('are refused when two that differ have one name', () => {
    assert.throws(
      () => namedIn([cat, named('Cat', object({ name: whole }))]),
      /Two different schemas are named Cat/,
    );
    assert.deepEqual(Object.keys(namedIn([cat, named('Cat', object({ name: text }))])), ['Cat']);
  });

  it('may be null, and have a description where they stand', () => {
    const schema = orNull({ ...cat, description: 'The cat.' }, 'Null without one.');
    const $ref = '#/components/schemas/Cat';
    assert.deepEqual(hoisted(schema).part, {
      anyOf: [{ $ref, description: 'The cat.' }, { type: 'null' }],
      description: 'The cat. Null without one.',
    });
  });

  it('name the page of a list', () => {
    assert.equal(definitionOf(pageOf('cats', cat, { name: 'Tom' }).schema)?.name, 'CatPage');
    assert.equal(definitionOf(pageOf('cats', text, 'a').schema), undefined);
  });

  describe('of the API', () => {
    it('are all bodies and all answers in JSON', () => {
      for (const [route, { requestBody, responses }] of describedOperations()) {
        const successes = Object.entries(responses).filter(([status]) => status < '300');
        for (const each of [requestBody, ...successes.map(([, response]) => response)]) {
          const schema = each?.content?.['application/json']?.schema;
          assert.ok(
            schema === undefined || schema['$ref'] !== undefined,
            `${route} has an answer without a name`,
          );
        }
      }
    });

    it('are the details of every refusal', () => {
      const schemas = Object.entries(document.components.schemas);
      const told = schemas.flatMap(([name, schema]) => {
        if (!name.endsWith('Error') || name === 'OtherError' || schema['properties'] === undefined) return [];
        const { details } = schema['properties'] as { details?: Record<string, unknown> };
        return details ? [[name, details['$ref']] as const] : [];
      });
      assert.ok(told.length > 20, String(told.length));
      assert.deepEqual(
        told.filter(([, ref]) => ref === undefined),
        [],
      );
    });

    it('are all objects that are used twice', () => {
      const places = new Map<string, string[]>();
      const inline = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
        Object.entries(schema).flatMap(([key, value]) => [...inlineObjects(value, `${name}/${key}`)]),
      );
      for (const [text, at] of inline) places.set(text, [...(places.get(text) ?? []), at]);
      const twice = [...places.values()].filter(({ length }) => length > 1);
      assert.deepEqual(twice, [], 'give each of them a name: named(…) of api/http/openapi/json-schema.ts');
    });

    it('have names that shadow nothing a client has', () => {
      for (const name of Object.keys(document.components.schemas)) {
        assert.match(name, /^[A-Z][A-Za-z0-9]*$/);
        assert.ok(!TAKEN.has(name), `${name} is a global of JavaScript`);
      }
    });
  });
});

/** The globals of JavaScript. `Event` is not among them: it is the DOM's, and the feed's events are called so. */
const TAKEN = new Set(
  Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z]/.test(name) && name !== 'Event'),
);
