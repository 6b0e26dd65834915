import { heading, nameOf, snake, type ApiDocument, type Operation, type Parameter } from './document.js';
import type { TypeWriter } from './types.js';

/**
 * What sending a request a second time may do, where its method does not tell: as in the typed client, whose test sends
 * each request through both.
 */
const REPEATS: Readonly<Record<string, string>> = {
  createQuote: 'read',
  beginCardSetup: 'read',
  beginPasskey: 'same',
  beginPasskeySignIn: 'same',
  beginPasskeyProof: 'same',
  stopRental: 'same',
  keepRentalAlive: 'same',
  endOtherSessions: 'same',
  closeAccount: 'same',
  logOut: 'same',
  exportAccount: 'once',
};

const REPEATS_OF_METHODS: Readonly<Record<string, string>> = { GET: 'read', POST: 'once' };

/** What a repetition is refused with after an end whose answer was lost, as the typed client has it. */
const GONE: Readonly<Record<string, number>> = { logOut: 401 };

interface Described extends Operation {
  readonly method: string;
  readonly path: string;
}

/** The operations that programs call: no pages, no stream, nothing for the processor or whoever watches the service. */
function operationsOf({ paths }: ApiDocument): Described[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        ...{ method: method.toUpperCase(), path },
      })),
    )
    .filter(
      ({ path, operationId, ...operation }) =>
        path.startsWith('/v1/') &&
        operationId !== 'showOpenApi' &&
        parametersOf(operation, 'header').every(({ name }) => name === 'Idempotency-Key') &&
        /^(application\/(json|pdf|zip)|text\/(csv|plain))$/.test(answerOf(operation)?.type ?? ''),
    );
}

const parametersOf = ({ parameters = [] }: Pick<Operation, 'parameters'>, place: Parameter['in']) =>
  parameters.filter((parameter) => parameter.in === place);

function answerOf({ responses }: Pick<Operation, 'responses'>) {
  const [first] = Object.entries(responses['200']?.content ?? {});
  return first && { type: first[0], schema: first[1].schema ?? {} };
}

/** @returns the text of operations.py, whose calls wait: the others are made of it (sync.ts) */
export function writeOperations(document: ApiDocument, types: TypeWriter): string {
  const operations = operationsOf(document);
  return [
    heading('Each operation of the API, by its name there.'),
    'from __future__ import annotations\n',
    'from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, List, Literal, Optional, Union, cast\n',
    'from .._ask import Ask, segment\n',
    'if TYPE_CHECKING:',
    '    from .. import types as t\n\n',
    'class AsyncOperations:',
    '    """The calls. Those that read a list have one that reads page by page (`iter_…`)."""\n',
    '    async def _call(self, ask: Ask, timeout: Optional[float]) -> Any:',
    '        raise NotImplementedError',
    ...operations.map((operation) => writeOperation(operation, document, types)),
    '',
  ].join('\n');
}

function writeOperation(operation: Described, document: ApiDocument, types: TypeWriter): string {
  const name = snake(operation.operationId);
  const answer = typeOf(answerOf(operation)?.schema ?? {}, types);
  const args = argumentsOf(operation, types);
  const call = [
    `\n    async def ${name}(`,
    ...args.map((arg) => `        ${arg},`),
    `    ) -> ${answer}:`,
    `        """${sentence(operation.summary ?? '')} ${operation.method} ${operation.path}"""`,
    '        ask = Ask(',
    ...askOf(operation).map((line) => `            ${line},`),
    '        )',
    `        return cast("${answer}", await self._call(ask, timeout))`,
  ].join('\n');
  const pages = pagesOf(operation, document);
  return pages === undefined ? call : call + writePages(operation, pages, args, types);
}

const sentence = (text: string): string => text.replace(/\.?$/, '.');

function typeOf(schema: object, types: TypeWriter): string {
  return types.typeOf(schema, 'Answer');
}

function argumentsOf(operation: Described, types: TypeWriter): string[] {
  const { requestBody } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const query = parametersOf(operation, 'query');
  // Python wants those that may be left out last; by name they stand in any order.
  const written = [...query.filter(({ required }) => required), ...query.filter(({ required }) => !required)];
  return [
    'self',
    ...parametersOf(operation, 'path').map(({ name }) => `${pythonName(name)}: str`),
    ...(body === undefined
      ? []
      : [`body: ${typeOf(body, types)}${requestBody?.required === true ? '' : ' | None = None'}`]),
    '*',
    ...written.map((parameter) => {
      const type = typeOf(parameter.schema, types);
      const name = pythonName(parameter.name);
      return parameter.required === true ? `${name}: ${type}` : `${name}: ${type} | None = None`;
    }),
    ...(isKeyed(operation) ? ['idempotency_key: str | None = None'] : []),
    'timeout: float | None = None',
  ];
}

/** `from` is a word of Python's own. */
function pythonName(name: string): string {
  return name === 'from' ? 'from_' : snake(name);
}

const isKeyed = (operation: Described): boolean => parametersOf(operation, 'header').length > 0;

function repeatsOf(operation: Described): string {
  if (isKeyed(operation)) return 'keyed';
  return REPEATS[operation.operationId] ?? REPEATS_OF_METHODS[operation.method] ?? 'same';
}

/** The arguments of Ask. */
function askOf(operation: Described): string[] {
  const { method, path, operationId } = operation;
  const inPath = path.replace(/\{(\w+)\}/g, (_, name: string) => `{segment(${pythonName(name)})}`);
  const query = parametersOf(operation, 'query').map(({ name }) => `"${name}": ${pythonName(name)}`);
  const gone = method === 'DELETE' ? 404 : GONE[operationId];
  return [
    `"${method}"`,
    inPath === path ? `"${path}"` : `f"${inPath}"`,
    `"${repeatsOf(operation)}"`,
    ...(query.length > 0 ? [`query={${query.join(', ')}}`] : []),
    ...(operation.requestBody === undefined ? [] : ['body=body']),
    ...(isKeyed(operation) ? ['key=idempotency_key'] : []),
    ...(gone === undefined ? [] : [`gone=${gone}`]),
  ];
}

interface Pages {
  /** The field of a page that holds its items. */
  readonly field: string;
  readonly item: string;
}

/** A list that goes on by a cursor. */
function pagesOf(operation: Described, { components }: ApiDocument): Pages | undefined {
  const { $ref } = answerOf(operation)?.schema ?? {};
  const page = $ref === undefined ? undefined : components.schemas[nameOf($ref)];
  if (page?.properties?.['nextCursor'] === undefined) return undefined;
  const found = Object.entries(page.properties).find(([, { items }]) => items?.$ref !== undefined);
  return found && { field: found[0], item: `t.${nameOf(found[1].items?.$ref ?? '')}` };
}

function writePages(operation: Described, { field, item }: Pages, args: string[], types: TypeWriter): string {
  const name = snake(operation.operationId);
  const page = typeOf(answerOf(operation)?.schema ?? {}, types);
  const own = args.filter((arg) => !arg.startsWith('cursor:'));
  const passed = own
    .filter((arg) => arg !== 'self' && arg !== '*')
    .map((arg) => arg.slice(0, arg.indexOf(':')))
    .map((arg) =>
      args.indexOf('*') > args.findIndex((one) => one.startsWith(`${arg}:`)) ? arg : `${arg}=${arg}`,
    );
  return [
    `\n\n    async def ${name.replace(/^list_/, 'iter_')}(`,
    ...own.map((arg) => `        ${arg},`),
    `    ) -> AsyncIterator[${item}]:`,
    `        """As ${name}, over all pages: each is read when it is needed."""`,
    '        cursor: str | None = None',
    '        while True:',
    `            page: ${page} = await self.${name}(`,
    `                ${[...passed, 'cursor=cursor'].join(', ')}`,
    '            )',
    `            for item in page["${field}"]:`,
    '                yield item',
    '            if page["nextCursor"] is None or page["nextCursor"] == cursor:',
    '                return',
    '            cursor = page["nextCursor"]',
  ].join('\n');
}
