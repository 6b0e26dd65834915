import assert from 'node:assert/strict';
import { eventTypes } from '../../../domain/events/events.js';

describe('the types of events', () => {
  it('are a noun and what happened to it, each once', () => {
    for (const type of eventTypes) assert.match(type, /^[a-z_]+\.[a-z_]+$/);
    assert.equal(new Set(eventTypes).size, eventTypes.length);
  });

  it('stand together by their noun', () => {
    const nouns = eventTypes.map((type) => type.slice(0, type.indexOf('.')));
    const changes = nouns.filter((noun, index) => noun !== nouns[index - 1]);
    assert.equal(new Set(changes).size, changes.length);
  });
});
