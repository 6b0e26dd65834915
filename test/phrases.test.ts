import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import ts from 'typescript';

/** Phrases that read as translated, each with what people expect to read. Words alone are never refused. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/\bthe money (?:is over|was over|ends|ended)\b|\bend of the money\b/, 'your balance ran out'],
  [/\bmoney lasts\b/, 'your balance lasts'],
  [/\bmoney (?:came|has come) in\b/, 'money was added'],
  [/\b(?:there is )?none of these\b/, 'no … match'],
  [/\b(?:can|could)(?: not)? be had\b|\bto be had\b/, 'available'],
  [/\bis not asked for\b/, 'you don’t owe it'],
  [/\b(?:costs?|charged|held) in all\b|\bit cost in all\b/, 'total'],
  [/\bnothing (?:runs|costs)\b/, 'no machines running'],
  [/\bfound out in time\b/, 'we could not check this in time'],
  [/\banswer to support\b/, 'contact support'],
  [/\b(?:machines?|payments?|rentals?|addresses) of yours\b/, 'your machine, one of your payments'],
  [/\brequest is not right\b|\bcode is not right\b/, 'invalid, wrong'],
  [/\b(?:shows?|show|challenged|made|installed) anew\b|\bwho (?:you|they) are anew\b/, 'again'],
  [/\bas many as (?:one|an account|you) may have\b/, 'the most you can have'],
  [/\ba mailed code\b|\bcode (?:is|was) mailed\b|\bhave a code mailed\b/, 'a code that we email you'],
  [/\bsuch mails\b/, 'these emails'],
  [
    /\bnothing (?:is|was) begun\b|\bbegin (?:it )?again\b|\b(?:was|were) not begun\b/,
    'nothing happened; start again',
  ],
  [/(?<!there )\bis no (?:id|key|number|file|field|address|label|terminal|public key)\b/, 'is not a(n) …'],
  [/\bit is not (?:said|known yet)\b/, 'say what …; we don’t know yet'],
  [/\bunless told\b/, '(default: …)'],
  [/\bkey of before\b|\bconversations of before\b/, 'previous, earlier'],
  [/\bat worst\b/, 'at most'],
  [
    /\blets? him\b|\b(?:all|with|revokes|ends) his\b|\bwhere he is\b|\bhe (?:paid|has|must|had)\b/,
    'they, their',
  ],
  [/\b(?:has|have) told us\b/, 'has confirmed'],
  [/\b(?:can|could) enter (?:it|the machine)\b|\bnobody can enter\b|\benter it by\b/, 'log in'],
  [/\b(?:machines|what runs) runs? on\b/, 'keep running'],
  [/\bthe newest first\b|\bthe oldest first\b|\bthe cheapest first\b/, 'newest first'],
  [/\bstands? here\b/, 'appears here'],
  [/\blooks again by itself\b|\bends by itself\b|\bcharged by itself\b/, 'keeps checking; on its own'],
  [/\bwhat became of\b/, 'what happened to, the result of'],
  [/\bled? to nowhere\b|\bleads nowhere\b/, 'does not resolve'],
  [/\bnothing like it is on offer\b|\bno machine on offer\b/, 'no available machine'],
  [/\bnobody paid\b/, 'it was not paid'],
  [/\bis switched off here\b|\bare switched off here\b/, 'turned off here'],
  [/\bdoes not have it any more\b/, 'no longer has it'],
];

/** Where texts for people are written. */
const folders = [
  'activities',
  'api',
  'domain',
  'lab/mock',
  'money',
  'ops',
  'clients/cli/src',
  'clients/dashboard/src',
];
const pages = ['README.md', 'docs/api', 'docs/cli.md', 'docs/operations', 'ops/prometheus/alerts.yml'];

/** A line may keep a phrase: it, or the line before it, ends with `phrase: REASON`. */
const excuse = /phrase: \S/;

interface Text {
  readonly text: string;
  readonly line: number;
}

/** The literals, templates and JSX texts of a file. */
function textsOf(path: string, source: string): Text[] {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, false, kind);
  const texts: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node)) {
      texts.push({ text: node.text, line: file.getLineAndCharacterOfPosition(node.getStart(file)).line });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}

/** What should read otherwise in a file, as `path:line: "phrase", better: …`. */
function findings(path: string, source: string): string[] {
  const lines = source.split('\n');
  const texts = /\.tsx?$/.test(path) ? textsOf(path, source) : lines.map((text, line) => ({ text, line }));
  return texts.flatMap(({ text, line }) =>
    excuse.test(`${lines[line - 1] ?? ''}\n${lines[line] ?? ''}`)
      ? []
      : phrases.flatMap(([phrase, better]) => {
          const found = phrase.exec(text.toLowerCase().replace(/\s+/g, ' '));
          return found === null ? [] : [`${path}:${line + 1}: "${found[0]}", better: ${better}`];
        }),
  );
}

function filesIn(path: string): string[] {
  if (statSync(path).isFile()) return /\.(tsx?|md|yml)$/.test(path) && !path.endsWith('.d.ts') ? [path] : [];
  return readdirSync(path).flatMap((name) => (name === 'node_modules' ? [] : filesIn(`${path}/${name}`)));
}

describe('texts that people read', () => {
  it('hold no phrase that reads as translated', () => {
    const found = [...folders, ...pages]
      .flatMap(filesIn)
      .flatMap((path) => findings(path, readFileSync(path, 'utf8')));
    assert.deepEqual(found, []);
  });

  it('are read in literals, templates and elements, and not in comments or names', () => {
    const source =
      'f("The money was over", `${a} The money is over`); // The money was over\n<p>The money ended</p>;';
    assert.equal(findings('a.tsx', source).length, 3);
    assert.deepEqual(findings('a.md', 'The money was over'), [
      'a.md:1: "the money was over", better: your balance ran out',
    ]);
  });

  it('may keep a phrase for a reason', () => {
    assert.deepEqual(findings('a.ts', '// phrase: quoted\nf("The money was over");'), []);
    assert.equal(findings('a.ts', '// phrase:\nf("The money was over");').length, 1);
  });

  it('have at most 40 phrases to heed', () => assert.ok(phrases.length <= 40));
});
