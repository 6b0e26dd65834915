import { readFileSync } from 'node:fs';
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv';

/** The parts of an OpenAPI document that are used. */
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}
interface Content {
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}
type Schema = Readonly<Record<string, unknown>>;
interface Document {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** @returns the faults, a line each; nothing when it is right */
export type Check = (value: unknown) => string[];

/** The processor's description of its own API, as checks. */
export interface ApiDescription {
  /** The version that it describes. */
  readonly version: string;
  /** The operation behind a request; undefined for a path or a method that the API does not have. */
  findOperation(method: string, path: string): CheckedOperation | undefined;
  /** Checks every object in a value, at any depth, by its own kind. */
  readonly checkObjects: Check;
  /** Tells whether the API has events of a kind. */
  hasEvent(type: string): boolean;
}

export interface CheckedOperation {
  readonly query: Check;
  readonly body: Check;
  answer(status: number): Check;
}

const formType = 'application/x-www-form-urlencoded';
const shownErrors = 6;

/** Reads the description. Every object in it is closed: a field that it does not name is a finding. */
export function readApiDescription(file: string): ApiDescription {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Document;
  const { schemas } = document.components;
  const close = closer(schemas);
  const forms = compiler({ coerceTypes: true }, schemas, close);
  const answers = compiler({}, schemas, close);
  return {
    version: document.info.version,
    findOperation(method, path) {
      const operation = findOperation(document, method.toLowerCase(), path);
      if (operation === undefined) return undefined;
      return {
        query: forms(close(queryOf(operation))),
        body: forms(close(operation.requestBody?.content[formType]?.schema ?? emptyForm)),
        answer: (status) => answers(close(answerOf(operation, status))),
      };
    },
    checkObjects: (value) => checkNested(schemas, close, answers, value, ''),
    hasEvent: eventKinds(document),
  };
}

const emptyForm: Schema = { type: 'object', properties: {} };

function queryOf(operation: Operation): Schema {
  const fields = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  return { type: 'object', properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])) };
}

function answerOf(operation: Operation, status: number): Schema {
  const response = operation.responses[String(status)] ?? operation.responses['default'];
  return response?.content['application/json']?.schema ?? {};
}

/** Finds the operation of a path. An exact path goes before one with a parameter: `/search` is not an id. */
function findOperation(document: Document, method: string, path: string): Operation | undefined {
  const exact = document.paths[path]?.[method];
  if (exact !== undefined) return exact;
  const found = Object.entries(document.paths).find(
    ([template, operations]) => operations[method] !== undefined && patternOf(template).test(path),
  );
  return found?.[1][method];
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`);
}

function eventKinds(document: Document): (type: string) => boolean {
  const body = document.paths['/v1/webhook_endpoints']?.['post']?.requestBody?.content[formType]?.schema;
  const properties = body?.['properties'] as Record<string, { items?: { enum?: string[] } }> | undefined;
  const kinds = new Set(properties?.['enabled_events']?.items?.enum);
  if (kinds.size === 0) throw new Error('The description of the API lists no kinds of events.');
  return (type) => kinds.has(type);
}

/** Makes checks of schemas, each compiled once. */
function compiler(
  options: { coerceTypes?: boolean },
  schemas: Document['components']['schemas'],
  close: (schema: unknown) => unknown,
): (schema: unknown) => Check {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, ...options });
  const components = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, close(schema)]),
  );
  ajv.addSchema({ $id: documentId, components: { schemas: components } });
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const key = JSON.stringify(schema);
    const validate = compiled.get(key) ?? ajv.compile(schema as AnySchema);
    compiled.set(key, validate);
    return (value) => {
      if (validate(value)) return [];
      const lines = (validate.errors ?? []).map(({ instancePath, message, params }) => {
        const field = (params as { additionalProperty?: string }).additionalProperty;
        return `${instancePath || '/'} ${message ?? 'is wrong'}${field === undefined ? '' : ` (${field})`}`;
      });
      return [...new Set(lines)].slice(0, shownErrors);
    };
  };
}

const documentId = 'api';

/**
 * Translates OpenAPI's dialect into JSON Schema: `nullable` becomes a type of its own, and objects are closed. An
 * object that has a kind is replaced by its kind alone, because every such object is checked by itself: otherwise each
 * check would contain the whole API.
 */
function closer(schemas: Document['components']['schemas']): (schema: unknown) => unknown {
  const translate = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(translate);
    if (typeof node !== 'object' || node === null) return node;
    const { nullable, $ref: reference, ...rest } = node as Schema;
    const translated = typeof reference === 'string' ? refer(reference) : closed(rest);
    return nullable === true ? { anyOf: [translated, { type: 'null' }] } : translated;
  };
  const refer = (reference: string): Schema => {
    const name = reference.replace('#/components/schemas/', '');
    const kind = kindOf(schemas[name]);
    if (kind === undefined) return { $ref: `${documentId}#/components/schemas/${name}` };
    return { type: 'object', required: ['object'], properties: { object: { const: kind } } };
  };
  const closed = (schema: Schema): Schema => {
    const { properties, ...others } = schema;
    // The names of properties are not keywords, so they are kept apart from the rest.
    const entries = Object.entries(others).map(([key, value]) => [
      key,
      plain.has(key) ? value : translate(value),
    ]);
    const result = Object.fromEntries(entries) as Schema;
    if (typeof properties !== 'object' || properties === null) return result;
    const fields = Object.entries(properties).map(([name, value]) => [name, translate(value)]);
    return { additionalProperties: false, ...result, properties: Object.fromEntries(fields) as Schema };
  };
  return translate;
}

/** Keywords whose values are data. */
const plain = new Set(['enum', 'required', 'description', 'title', 'default']);

function kindOf(schema: Schema | undefined): string | undefined {
  const properties = schema?.['properties'] as Record<string, { enum?: string[] }> | undefined;
  return properties?.['object']?.enum?.[0];
}

function checkNested(
  schemas: Document['components']['schemas'],
  close: (schema: unknown) => unknown,
  check: (schema: unknown) => Check,
  value: unknown,
  path: string,
): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Record<string, unknown>;
  const below = Object.entries(fields).flatMap(([name, field]) =>
    checkNested(schemas, close, check, field, `${path}/${name}`),
  );
  const kind = fields['object'];
  if (typeof kind !== 'string' || kind === 'list' || kind === 'search_result') return below;
  const schema = schemas[fields['deleted'] === true ? `deleted_${kind}` : kind];
  if (schema === undefined) return [...below, `${path || '/'} is of an unknown kind (${kind})`];
  return [...check(close(schema))(value).map((line) => `${kind}${path}${line}`), ...below];
}
