import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { variables } from '../config.js';
import { brakeKinds } from '../domain/operations/operation.js';
import { findingKinds } from '../domain/operations/reconcile.js';
import { duties } from '../domain/operations/stuck.js';

const projectDir = dirname(dirname(fileURLToPath(import.meta.url)));
const read = (file: string) => readFileSync(join(projectDir, file), 'utf8');

describe('the documents', () => {
  const files = [
    ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'DECISIONS.md', 'CHANGELOG.md', 'bench/README.md'],
    ...readdirSync(join(projectDir, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => join('docs', file)),
  ];
  for (const file of files) {
    it(`${file} links to files and headings that exist`, () => {
      const missing = linksIn(read(file)).filter(({ target, anchor }) => {
        const path = target === '' ? file : join(dirname(file), target);
        if (!existsSync(join(projectDir, path))) return true;
        return path.endsWith('.md') && anchor !== '' && !anchorsOf(read(path)).includes(anchor);
      });
      assert.deepEqual(missing, []);
    });
  }

  it('docs/operations/findings.md tells of each kind of finding', () => {
    const told = [...read('docs/operations/findings.md').matchAll(/^\| `([a-z_]+)`/gm)].map(
      ([, kind]) => kind,
    );
    assert.deepEqual(told.toSorted(), Object.keys(findingKinds).toSorted());
  });

  it('docs/operations tells of each duty that sets aside, each brake, and each state of an order', () => {
    const rows = (file: string): string[] =>
      [...read(`docs/operations/${file}`).matchAll(/^\| `([a-z_]+)` /gm)].map(([, name = '']) => name);
    assert.deepEqual(rows('alerts.md').toSorted(), Object.keys(duties).toSorted());
    assert.deepEqual(rows('stop-everything.md'), [...brakeKinds]);
    const states = /operator_orders_status_check CHECK \(status = ANY \(ARRAY\[(.+)\]\)\)/.exec(
      read('migrations/001-baseline.sql'),
    )?.[1];
    assert.ok(states);
    assert.deepEqual(
      rows('by-hand.md'),
      [...states.matchAll(/'(\w+)'/g)].map(([, state]) => state),
    );
  });

  it('docs/operations/alerts.md says what each alert says', () => {
    const filled = (text: string): string =>
      text
        .replace(/\{\{ \$value[^}]*\}\}/g, '…')
        .replace(/\{\{ \$labels\.(\w+) \}\}/g, '<$1>')
        .replace(/\s+/g, ' ');
    const page = read('docs/operations/alerts.md').replace(/\s+/g, ' ');
    const rules = read('ops/prometheus/alerts.yml');
    const alerts = [
      ...rules.matchAll(
        /- alert: (\w+)\n[^]*?severity: (\w+)\n[^]*?summary: '(.*)'\n\s+what_to_do: '(.*)'\n/g,
      ),
    ];
    assert.equal(alerts.length, rules.match(/- alert: /g)?.length);
    for (const [, name, severity, summary = '', whatToDo = ''] of alerts) {
      const told = `## ${name} **${severity}**: ${filled(summary)} ${filled(whatToDo)}`;
      assert.ok(page.includes(told), `${told}\n\nis not what the page says`);
    }
  });

  it('PoolExhausted says of each watched pool what to do', () => {
    const [, advice = ''] =
      /alert: PoolExhausted\n[^]*?what_to_do: '(.*)'/.exec(read('ops/prometheus/alerts.yml')) ?? [];
    const pools = ['api', 'listener', 'worker'].flatMap((part) =>
      [...read(`${part}/index.ts`).matchAll(/processName\('([\w-]+)'\)/g)].map(([, pool = '']) => pool),
    );
    assert.ok(pools.length >= 8, pools.join(' '));
    assert.deepEqual(
      pools.filter((pool) => !advice.match(/[\w-]+/g)?.includes(pool)),
      [],
    );
  });

  it('docs/operations and the alerts quote the log as the sources write it', () => {
    const pages = [
      'ops/prometheus/alerts.yml',
      ...files.filter((file) => file.startsWith('docs/operations/')),
    ];
    const folders = ['activities', 'adapters', 'api', 'listener', 'money', 'worker', 'workflows'];
    const sources = folders
      .flatMap((folder) =>
        readdirSync(join(projectDir, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
          join(folder, name),
        ),
      )
      .filter((path) => path.endsWith('.ts'))
      .map(read)
      .join('\n')
      .replaceAll('${dependency}', 'postgres');
    const quoted = pages.flatMap((page) =>
      // What a sentence about a log quotes, placeholders apart.
      [
        ...read(page)
          .replace(/\s+/g, ' ')
          .matchAll(/\blogs?\b[^.“]*“([^”<{]+)”/g),
      ].map(([, line = '']) => `${page}: ${line}`),
    );
    assert.ok(quoted.length >= 12, String(quoted.length));
    assert.deepEqual(
      quoted.filter((one) => !sources.includes(one.slice(one.indexOf(': ') + 2))),
      [],
    );
  });

  it('docs/operations/kubernetes.md names the jobs of Prometheus as the alerts know them', () => {
    const block = [...read('docs/operations/kubernetes.md').matchAll(/```yaml\n([^]*?)```/g)].find(
      ([, yaml]) => yaml?.includes('PodMonitor'),
    )?.[1];
    const { spec } = parse(block ?? '') as {
      spec: { podMetricsEndpoints: [{ port: string; relabelings: [Record<string, string>] }] };
    };
    const [{ port, relabelings }] = spec.podMetricsEndpoints;
    const [{ regex = '', targetLabel, replacement = '' }] = relabelings;
    assert.deepEqual([port, targetLabel], ['metrics', 'job']);
    const known = new Set(
      [...read('ops/prometheus/alerts.yml').matchAll(/job="([\w-]+)"/g)].map(([, job]) => job),
    );
    const named = ['api', 'worker', 'listener'].map((part) =>
      part.replace(new RegExp(`^(?:${regex})$`), replacement),
    );
    assert.deepEqual(named.toSorted(), [...known].toSorted());
  });

  it('each workflow that operators end by hand is ended by a command that the pages tell', () => {
    const told = files
      .filter((file) => file.startsWith('docs/operations/'))
      .filter((file) => /\bterminate (?:it|the workflow)\b/i.test(read(file)));
    assert.deepEqual(told, []);
  });

  it('.env.example names every variable that is read, and no other', () => {
    const named = [...read('.env.example').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name);
    const ofService = Object.keys(variables);
    const ofStack = variablesIn(
      'lab/stack/settings.ts',
      /^ {2}([A-Z][A-Z0-9_]+): |variable: '([A-Z0-9_]+)'/gm,
    );
    const ofCompose = variablesIn('docker-compose.yml', /\$\{([A-Z0-9_]+):/g);
    assert.ok(ofService.length > 20 && ofStack.length > 8 && ofCompose.length > 10);
    const readSomewhere = new Set([...ofService, ...ofStack, ...ofCompose]);
    // PATH belongs to the shell.
    readSomewhere.delete('PATH');
    assert.deepEqual(named.toSorted(), [...readSomewhere].toSorted());
  });

  it('DECISIONS.md tells each decision once, by its subject and in step with the contents', () => {
    const decisions = groupsIn(read('DECISIONS.md')).flatMap(({ headings }) => headings.map(decisionIn));
    const numbers = decisions.map(({ number }) => number);
    assert.ok(numbers.length > 90);
    assert.deepEqual(
      numbers.toSorted(byNumber),
      Array.from({ length: numbers.length }, (_, index) => index + 1),
      'each number once, none left out',
    );
    const titles = decisions.map(({ title }) => title);
    assert.deepEqual(titles.toSorted(), [...new Set(titles)].toSorted(), 'each title once');
    const unfit = titles.filter((title) => !/^[^\s"'()]+( [^\s"'()]+){1,4}$/.test(title));
    assert.deepEqual(unfit, [], 'a title is two to five words that a comment can cite');
  });

  it('the contents of DECISIONS.md are its headings, ascending within a subject', () => {
    const text = read('DECISIONS.md');
    const [contents = '', ...groups] = text.split(/^## /m).slice(1);
    assert.ok(contents.startsWith('Contents\n'));
    assert.ok(groups.length > 8);
    const listed = [...contents.matchAll(/^\*\*(.+):\*\*|\[(.+?)\]\(#(.+?)\)/gm)].map(
      ([, group, heading, anchor]) => group ?? `${heading} #${anchor}`,
    );
    const told = groupsIn(text).flatMap(({ group, headings }) => [
      group,
      ...headings.map((heading) => `${heading} #${anchorOf(heading)}`),
    ]);
    assert.deepEqual(listed, told);
    for (const { group, headings } of groupsIn(text)) {
      const numbers = headings.map((heading) => decisionIn(heading).number);
      assert.deepEqual(numbers, numbers.toSorted(byNumber), group);
    }
  });

  it('no decision is longer than eight lines', () => {
    const long = read('DECISIONS.md')
      .split(/^###? /m)
      .slice(1)
      .filter((part) => !part.startsWith('Contents\n'))
      .map((part) => {
        const [heading = '', ...lines] = part.split('\n').filter((line) => line !== '');
        return { heading, lines: lines.length, widest: Math.max(0, ...lines.map(({ length }) => length)) };
      })
      .filter(({ lines, widest }) => lines > 8 || widest > 128);
    assert.deepEqual(long, [], 'how a thing is used belongs into docs/');
  });

  it('each comment of the product cites a decision by number and title', () => {
    const untitled = sourceFiles().flatMap((file) =>
      numbersWithoutTitleIn(read(file)).map((cited) => `${file}: ${cited}`),
    );
    assert.deepEqual(untitled, []);
  });

  it('DECISIONS.md has each decision that code, tests and documents cite, by the title that they cite', () => {
    const titles = new Map(
      groupsIn(read('DECISIONS.md'))
        .flatMap(({ headings }) => headings.map(decisionIn))
        .map(({ number, title }) => [number, title]),
    );
    const texts = [...new Set([...sourceFiles(), ...otherCode(), ...files])].map(
      (file) => [file, read(file)] as const,
    );
    const cited = texts.flatMap(([file, text]) => citedIn(text).map((number) => ({ file, number })));
    assert.ok(cited.length > 400);
    assert.deepEqual(
      cited.filter(({ number }) => !titles.has(number)),
      [],
    );
    const wrong = texts.flatMap(([file, text]) =>
      titlesCitedIn(text)
        .filter(({ number, title }) => titles.get(number) !== title)
        .map(({ number, title }) => `${file}: ${number}, "${title}"`),
    );
    assert.deepEqual(wrong, []);
  });
});

function variablesIn(file: string, pattern: RegExp): string[] {
  return [...read(file).matchAll(pattern)].map((match) => match[1] ?? match[2] ?? '');
}

/** The code of the project, whose citations are checked. */
function sourceFiles(): string[] {
  const folders = [
    'activities',
    'adapters',
    'money',
    'tools',
    'api',
    'config',
    'domain',
    'lab',
    'migrations',
    'ops',
    'worker',
    'workflows',
  ];
  return folders.flatMap((folder) =>
    readdirSync(join(projectDir, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  );
}

/** What else may cite decisions: tests, clients, benchmarks, and what is no TypeScript. */
function otherCode(): string[] {
  const folders = ['bench', 'clients', 'migrations', 'ops', 'test', 'tools'];
  return folders.flatMap((folder) =>
    readdirSync(join(projectDir, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(tsx?|mjs|sql|ya?ml)$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file))
      .map((file) => join(folder, file)),
  );
}

/**
 * "decision 4", "decisions 15, 16", "decisions 8-10", "decisions 33 and 34", "DECISIONS.md, 4"; in a page that says that
 * its numbers in parentheses are decisions, "(8, 84)" too.
 */
function citedIn(text: string): number[] {
  const named = text.matchAll(/\bdecisions?(?:\.md)?(?:,|\]\([^)]*\)?,?)? (\d+(?:(?:, | and |-)\d+)*)/gi);
  const bare = /Numbers in parentheses.* are those of \[DECISIONS/.test(text)
    ? text.matchAll(/\((?:[^()\n]*, )?(\d{1,3}(?:, \d{1,3})*)(?:\)|, \[)/g)
    : [];
  const lists = [...named, ...bare].map(([, list = '']) => list);
  return lists
    .flatMap((list) => list.split(/, | and /))
    .flatMap((item) => {
      const [from = 0, to = from] = item.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
}

/** "decision 69, "Items that fail"", which a comment may break over two lines. */
function titlesCitedIn(text: string): { number: number; title: string }[] {
  const unbroken = text.replace(/\n\s*(?:\*|\/\/|--)?\s*/g, ' ');
  return [...unbroken.matchAll(/\bdecision (\d+), "([^"]+)"/gi)].map(([, number, title = '']) => ({
    number: Number(number),
    title,
  }));
}

/** Citations in comments that lack a title: `decision 69` instead of `decision 69, "Items that fail"`. */
function numbersWithoutTitleIn(text: string): string[] {
  const comments = text
    .split('\n')
    .filter((line) => /^\s*(\/?\*|\/\/)/.test(line))
    .map((line) => line.replace(/^\s*(\/?\*+|\/\/) ?/, ''))
    .join(' ');
  return [...comments.matchAll(/\bdecisions? (\d+)(?!\d|,\s+")/gi)].map(([cited]) => cited);
}

/** The subjects of DECISIONS.md with the headings of their decisions: "69. Items that fail". */
function groupsIn(text: string): { group: string; headings: string[] }[] {
  return text
    .split(/^## /m)
    .slice(1)
    .filter((part) => !part.startsWith('Contents\n'))
    .map((part) => ({
      group: part.slice(0, part.indexOf('\n')),
      headings: [...part.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading),
    }));
}

function decisionIn(heading: string): { number: number; title: string } {
  const [, number, title = ''] = /^(\d+)\. (.+)$/.exec(heading) ?? [];
  return { number: Number(number), title };
}

/** The links of a page but those to the web: a path, empty for the page itself, and a heading's anchor. */
function linksIn(text: string): { target: string; anchor: string }[] {
  return [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)]+))?\)/g)].map(
    ([, target = '', anchor = '']) => ({ target, anchor }),
  );
}

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

/** The anchor that a Markdown page gives to a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function byNumber(a: number, b: number): number {
  return a - b;
}
