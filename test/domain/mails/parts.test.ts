import assert from 'node:assert/strict';
import { messageOf, withSupport } from '../../../domain/mails/message.js';
import { bareButton, button, command, fact, quietLink, row } from '../../../domain/mails/parts.js';

const pageOf = (...parts: Parameters<typeof messageOf>[1]) => messageOf('Hello', parts).html ?? '';

describe('the HTML part of a mail', () => {
  it('joins the lines of a paragraph, and begins another one after an empty line', () => {
    const html = pageOf('one', 'two', '', 'three');
    assert.match(html, />one two<\/p>\n<p [^>]*>three<\/p>/);
  });

  it('makes one table of facts in a row, each named by its first cell', () => {
    const html = pageOf(fact('Invoice', 'inv_1'), row('a', 'b', 'c'), '', fact('Due', 'today'));
    assert.equal(html.split('<table').length - 1, 2);
    assert.equal(html.split('<th scope="row"').length - 1, 3);
    assert.match(html, />a<\/th><td [^>]*>b<\/td><td [^>]*>c<\/td><\/tr>/);
  });

  it('breaks a long id where it must, and no short word beside it', () => {
    const html = pageOf(fact('What happened', 'x'.repeat(20)), fact('Why', 'a short one'));
    const cells = [...html.matchAll(/<t[hd] [^>]*style="([^"]*)"/g)].map(([, style]) =>
      style?.includes('anywhere'),
    );
    assert.deepEqual(cells, [false, true, false, false]);
  });

  it('shows what it asks for as a button, and another link as a link', () => {
    const html = pageOf(
      button('Pay here', 'https://a.example/?a=1&b="2"'),
      quietLink('Off', 'http://b.example'),
    );
    assert.match(
      html,
      /<a href="https:\/\/a\.example\/\?a=1&amp;b=&quot;2&quot;" style="display:inline-block/,
    );
    assert.match(html, /<a href="http:\/\/b\.example">Off<\/a>/);
  });

  it('links to nothing but a web page', () => {
    for (const url of ['javascript:alert(1)', 'data:text/html,x', ' https://a.example', '//a.example']) {
      const html = pageOf(button('Pay here', url), bareButton('Pay', url));
      assert.doesNotMatch(html, /<a |href/, url);
    }
    assert.doesNotMatch(pageOf(button('Pay here', '')), /<a |Pay here/);
  });

  it('keeps a command as it is typed', () => {
    assert.match(
      pageOf(command('npm run ops -- marks lift <id>')),
      /<pre [^>]*>npm run ops -- marks lift &lt;id&gt;<\/pre>/,
    );
  });

  it('leaves colours to its reader, and fits a phone', () => {
    const html = pageOf('text', fact('a', 'b'), button('c', 'https://d.example'));
    assert.match(html, /<meta name="color-scheme" content="light dark">/);
    assert.match(html, /<meta name="viewport" content="width=device-width, initial-scale=1">/);
    assert.doesNotMatch(html, /[^-]color\s*:\s*(#|rgb|black|white)|background/);
  });

  it('ends with where to get help, in both parts', () => {
    const mail = messageOf('Hello', ['one']);
    assert.equal(withSupport(mail, null), mail);
    const page = withSupport(mail, 'https://help.example.com/?a=1&b=2');
    assert.equal(page.text, 'one\n\nContact support: https://help.example.com/?a=1&b=2');
    assert.match(
      page.html ?? '',
      />one<\/p>\n<p [^>]*><a href="https:\/\/help\.example\.com\/\?a=1&amp;b=2">Contact support<\/a><\/p>\n<\/div>\n<\/body>/,
    );
    const address = withSupport(mail, 'help@example.com');
    assert.equal(address.text, 'one\n\nContact support: help@example.com');
    assert.match(address.html ?? '', /<a href="mailto:help@example\.com">Contact support<\/a>/);
    assert.equal(withSupport({ ...mail, html: null }, 'help@example.com').html, null);
  });
});
