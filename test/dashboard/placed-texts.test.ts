import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createElement, memo, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ts from 'typescript';
import { Fragment, jsx, jsxs } from '../../clients/dashboard/src/jsx/jsx-runtime.js';

const spinner = jsx('i', {});
const html = (node: ReactNode): string => renderToStaticMarkup(node);
const box = (...children: ReactNode[]): string => html(jsxs('p', { children }));

describe('a text in the document', () => {
  const cases: readonly [name: string, shown: string, expected: string][] = [
    ['stays alone where it is alone', html(jsx('p', { children: 'Pay' })), '<p>Pay</p>'],
    ['leaves what comes and goes beside it', box(spinner, 'Pay'), '<p><i></i><span>Pay</span></p>'],
    ['is one with its neighbours', box('Page ', 2, ' of ', 3), '<p>Page 2 of 3</p>'],
    ['is one with them beside an element', box('Page ', 2, spinner), '<p><span>Page 2</span><i></i></p>'],
    ['keeps the blank before a link', box('See', ' ', spinner), '<p><span>See </span><i></i></p>'],
    ['may come from a list', box(spinner, ['a', 'b']), '<p><i></i><span>ab</span></p>'],
    [
      'may be one of a list with elements',
      box([spinner, 'a'].map((each) => (each === 'a' ? each : jsx('i', {}, 'one')))),
      '<p><i></i><span>a</span></p>',
    ],
    ['may be a number', box(spinner, 0), '<p><i></i><span>0</span></p>'],
    ['is nothing where it is empty', box(spinner, '', false, null), '<p><i></i></p>'],
    [
      'is never bare in a fragment',
      html(jsxs('p', { children: [jsx(Fragment, { children: 'a' }), spinner] })),
      '<p><span>a</span><i></i></p>',
    ],
    [
      'is never bare in what a component shows beside others',
      html(jsxs(Beside, { children: ['Pay ', 5] })),
      '<b><i></i><span>Pay 5</span></b>',
    ],
    ['is plain in a choice', html(jsxs('option', { children: ['a ', 1] })), '<option>a 1</option>'],
  ];
  for (const [name, shown, expected] of cases) it(name, () => assert.equal(shown, expected));

  it('keeps the places of elements whatever becomes of the texts', () => {
    const places = (...children: ReactNode[]): number =>
      (jsxs('p', { children }) as { props: { children: ReactNode[] } }).props.children.indexOf(spinner);
    assert.equal(places('a', 'b', spinner), 2);
    assert.equal(places('', 'b', spinner), 2);
    assert.equal(places(false, null, spinner), 2);
  });

  it('marks what belongs to no language', () => {
    const marked = (text: string): string => `<span class="notranslate" translate="no">${text}</span>`;
    assert.equal(
      box('Pay $1,234.50 now'),
      `<p><span><span>Pay </span>${marked('$1,234.50')}<span> now</span></span></p>`,
    );
    assert.equal(box('25,00\u00a0$'), '<p class="notranslate" translate="no">25,00\u00a0$</p>');
    assert.equal(
      html(jsx('p', { className: 'tabular', children: 'rent_01JABCDEFGH' })),
      '<p class="tabular notranslate" translate="no">rent_01JABCDEFGH</p>',
    );
    assert.equal(
      html(jsx('pre', { children: 'ssh root@host' })),
      '<pre class="notranslate" translate="no">ssh root@host</pre>',
    );
    assert.equal(
      html(jsx(memo(Foreign), { children: 'at $5.00' })),
      `<a><span><span>at </span>${marked('$5.00')}</span></a>`,
    );
    assert.equal(
      html(jsx('p', { className: 'font-mono text-xs', children: '203.0.113.7' })),
      '<p class="font-mono text-xs notranslate" translate="no">203.0.113.7</p>',
    );
    assert.equal(box('Add $ to it, or snake_case'), '<p>Add $ to it, or snake_case</p>');
  });

  it('is returned by no component, which would put it beside others', () => {
    const folder = 'clients/dashboard/src';
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.tsx'),
    );
    const found = files.flatMap((file) => bareReturnsOf(file, readFileSync(join(folder, file), 'utf8')));
    assert.deepEqual(found, []);
  });

  it('is found where a component returns it', () => {
    const faults = bareReturnsOf(
      'sample.tsx',
      'function A({ children }) { return b ? children : <i />; }\nconst B = () => "b";',
    );
    assert.deepEqual(faults, ['sample.tsx:1 A returns children', 'sample.tsx:2 B returns "b"']);
  });
});

function Foreign({ children }: { readonly children?: ReactNode }): ReactNode {
  return createElement('a', undefined, children);
}

function Beside({ children }: { readonly children?: ReactNode }): ReactNode {
  return createElement('b', jsxs('b', { children: [spinner, children] }).props as object);
}

/** What components return that may be a text: neither JSX nor nothing. */
function bareReturnsOf(file: string, source: string): string[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    const name = componentName(node);
    if (name !== undefined) {
      for (const result of resultsOf(node as ts.FunctionLikeDeclaration)) {
        const line = tree.getLineAndCharacterOfPosition(result.getStart()).line + 1;
        found.push(`${file}:${line} ${name} returns ${result.getText()}`);
      }
    }
    ts.forEachChild(node, look);
  };
  look(tree);
  return found;
}

function componentName(node: ts.Node): string | undefined {
  const named = ts.isFunctionDeclaration(node)
    ? node.name
    : (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) && ts.isVariableDeclaration(node.parent)
      ? node.parent.name
      : undefined;
  return named && ts.isIdentifier(named) && /^[A-Z][a-z]|^[A-Z]$/.test(named.text) ? named.text : undefined;
}

function resultsOf({ body }: ts.FunctionLikeDeclaration): ts.Expression[] {
  if (!body) return [];
  if (!ts.isBlock(body)) return bareOf(body);
  const found: ts.Expression[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return;
    if (ts.isReturnStatement(node) && node.expression) found.push(...bareOf(node.expression));
    ts.forEachChild(node, look);
  };
  look(body);
  return found;
}

const mappedOf = (each: ts.Expression): ts.Expression[] =>
  ts.isArrowFunction(each) || ts.isFunctionExpression(each) ? resultsOf(each) : [each];

function bareOf(value: ts.Expression): ts.Expression[] {
  if (ts.isParenthesizedExpression(value)) return bareOf(value.expression);
  if (ts.isConditionalExpression(value)) return [...bareOf(value.whenTrue), ...bareOf(value.whenFalse)];
  if (ts.isBinaryExpression(value)) {
    const isAnd = value.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken;
    return [...(isAnd ? [] : bareOf(value.left)), ...bareOf(value.right)];
  }
  if (!ts.isCallExpression(value)) return isElement(value) ? [] : [value];
  const called = value.expression.getText();
  if (called.endsWith('.map')) return value.arguments.flatMap(mappedOf);
  return called === 'createElement' ? [] : [value];
}

function isElement(value: ts.Expression): boolean {
  const isJsx = ts.isJsxElement(value) || ts.isJsxSelfClosingElement(value) || ts.isJsxFragment(value);
  return isJsx || ['null', 'undefined', 'false'].includes(value.getText());
}
