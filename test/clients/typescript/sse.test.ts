import assert from 'node:assert/strict';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { SseParser, type SseMessage } from '../../../clients/typescript/src/sse.js';

/** What a parser that is not ours makes of a text. */
function readByOther(text: string): Pick<SseMessage, 'event' | 'data'>[] {
  const messages: Pick<SseMessage, 'event' | 'data'>[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => messages.push({ event: event ?? 'message', data }),
  });
  parser.feed(text);
  return messages;
}

function cut(text: string, places: readonly number[]): string[] {
  const at = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return at.slice(1).map((end, index) => text.slice(at[index], end));
}

describe('the parser of streams', () => {
  it('reads what another parser reads, wherever the text is cut', () => {
    const word = fc.constantFrom(
      'data',
      'event',
      'id',
      'retry',
      'other',
      '',
      '17',
      ' a',
      'b:c',
      '{"é":"\u2028"}',
    );
    const line = fc.tuple(word, fc.constantFrom(':', ': ', '', ':  '), word).map((parts) => parts.join(''));
    const text = fc
      .array(fc.tuple(fc.oneof(line, fc.constant('')), fc.constantFrom('\n', '\r\n', '\n\n')))
      .map((lines) => lines.flat().join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), (whole, places) => {
        const parser = new SseParser();
        const messages = cut(whole, places).flatMap((piece) => parser.feed(piece));
        assert.deepEqual(
          messages.map(({ event, data }) => ({ event, data })),
          readByOther(whole),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes each kind of line break, and a mark of byte order at the beginning', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const parser = new SseParser();
      const text = ['\uFEFFid: 7', 'event: x', 'data: 1', 'data: 2', '', 'data: 3', '', ': end'].join(end);
      const messages = Array.from(text).flatMap((character) => parser.feed(character));
      assert.deepEqual(messages, [
        { event: 'x', data: '1\n2', lastId: '7' },
        { event: 'message', data: '3', lastId: '7' },
      ]);
    }
  });

  it('moves on by an id alone, forgets one that was cut off, and heeds whole numbers of retry', () => {
    const parser = new SseParser();
    assert.deepEqual(parser.feed('id: 4\n\nretry: 250\nretry: soon\nid: 5\ndata: never'), []);
    assert.deepEqual([parser.lastId, parser.retryMs], ['4', 250]);
  });

  it('refuses a message without an end', () => {
    const parser = new SseParser();
    const line = `data: ${'x'.repeat(65_536)}\n`;
    assert.throws(() => {
      for (;;) parser.feed(line);
    }, /does not end/);
    assert.throws(() => new SseParser().feed('x'.repeat(2_000_000)), /does not end/);
  });
});
