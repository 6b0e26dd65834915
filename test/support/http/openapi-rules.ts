import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/**
 * The rules of OpenAPI 3.1 (spec.openapis.org/oas/v3.1.0) for the parts of it that the service uses: objects hold the
 * required fields and no unknown ones.
 */
const described = { description: { type: 'string', minLength: 1 } };
const content = {
  type: 'object',
  minProperties: 1,
  propertyNames: { pattern: '^[^/]+/[^/]+$' },
  additionalProperties: { $ref: '#/$defs/mediaType' },
};

const rules = {
  type: 'object',
  properties: {
    openapi: { type: 'string', pattern: String.raw`^3\.1\.\d+$` },
    info: {
      type: 'object',
      properties: {
        title: { type: 'string' },
        version: { type: 'string' },
        ...described,
        license: {
          type: 'object',
          properties: { name: { type: 'string' }, identifier: { type: 'string' } },
          required: ['name'],
          additionalProperties: false,
        },
      },
      required: ['title', 'version'],
      additionalProperties: false,
    },
    servers: {
      type: 'array',
      items: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
    },
    security: { $ref: '#/$defs/security' },
    tags: {
      type: 'array',
      uniqueItems: true,
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, ...described },
        required: ['name', 'description'],
      },
    },
    paths: {
      type: 'object',
      propertyNames: { pattern: '^/' },
      additionalProperties: { $ref: '#/$defs/pathItem' },
    },
    webhooks: { type: 'object', additionalProperties: { $ref: '#/$defs/pathItem' } },
    components: {
      type: 'object',
      properties: {
        securitySchemes: {
          type: 'object',
          additionalProperties: {
            oneOf: [
              {
                type: 'object',
                properties: {
                  type: { const: 'apiKey' },
                  in: { enum: ['query', 'header', 'cookie'] },
                  name: { type: 'string' },
                  ...described,
                },
                required: ['type', 'in', 'name'],
                additionalProperties: false,
              },
              {
                type: 'object',
                properties: {
                  type: { const: 'http' },
                  scheme: { const: 'bearer' },
                  bearerFormat: { type: 'string' },
                  ...described,
                },
                required: ['type', 'scheme'],
                additionalProperties: false,
              },
            ],
          },
        },
        schemas: { type: 'object', additionalProperties: { $ref: '#/$defs/schema' } },
        headers: { type: 'object', additionalProperties: { $ref: '#/$defs/header' } },
        responses: { type: 'object', additionalProperties: { $ref: '#/$defs/response' } },
        examples: { type: 'object', additionalProperties: { $ref: '#/$defs/example' } },
      },
      additionalProperties: false,
    },
  },
  required: ['openapi', 'info', 'paths'],
  additionalProperties: false,
  $defs: {
    pathItem: {
      type: 'object',
      propertyNames: { enum: ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] },
      additionalProperties: { $ref: '#/$defs/operation' },
    },
    schema: { $ref: 'https://json-schema.org/draft/2020-12/schema' },
    security: {
      type: 'array',
      items: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
    },
    header: {
      type: 'object',
      properties: { ...described, $ref: { type: 'string' }, schema: { $ref: '#/$defs/schema' } },
      oneOf: [{ required: ['$ref'] }, { required: ['schema'] }],
      additionalProperties: false,
    },
    mediaType: {
      type: 'object',
      properties: {
        schema: { $ref: '#/$defs/schema' },
        examples: {
          type: 'object',
          additionalProperties: { anyOf: [{ $ref: '#/$defs/reference' }, { $ref: '#/$defs/example' }] },
        },
      },
      patternProperties: { '^x-': true },
      required: ['schema'],
      additionalProperties: false,
    },
    reference: {
      type: 'object',
      properties: { $ref: { type: 'string' } },
      required: ['$ref'],
      additionalProperties: false,
    },
    example: { type: 'object', required: ['value'] },
    link: {
      type: 'object',
      properties: {
        operationId: { type: 'string' },
        parameters: { $ref: '#/$defs/expressions' },
        requestBody: { $ref: '#/$defs/expressions' },
      },
      required: ['operationId'],
      additionalProperties: false,
    },
    expressions: {
      type: 'object',
      additionalProperties: { type: 'string', pattern: String.raw`^\$response\.body#/` },
    },
    response: {
      type: 'object',
      properties: {
        ...described,
        headers: { type: 'object', additionalProperties: { $ref: '#/$defs/header' } },
        content,
        links: { type: 'object', additionalProperties: { $ref: '#/$defs/link' } },
      },
      required: ['description'],
      additionalProperties: false,
    },
    operation: {
      type: 'object',
      properties: {
        operationId: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9]*$' },
        tags: { type: 'array', items: { type: 'string' } },
        summary: { type: 'string', minLength: 1 },
        ...described,
        security: { $ref: '#/$defs/security' },
        parameters: { type: 'array', uniqueItems: true, items: { $ref: '#/$defs/parameter' } },
        requestBody: {
          type: 'object',
          properties: { required: { type: 'boolean' }, content },
          required: ['content'],
          additionalProperties: false,
        },
        responses: {
          type: 'object',
          minProperties: 1,
          propertyNames: { pattern: String.raw`^[1-5]\d\d$` },
          additionalProperties: { anyOf: [{ $ref: '#/$defs/reference' }, { $ref: '#/$defs/response' }] },
        },
      },
      required: ['operationId', 'summary', 'responses'],
      additionalProperties: false,
    },
    parameter: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        in: { enum: ['path', 'query', 'header', 'cookie'] },
        required: { type: 'boolean' },
        ...described,
        schema: { $ref: '#/$defs/schema' },
        style: { const: 'form' },
        explode: { type: 'boolean' },
        example: true,
      },
      required: ['name', 'in', 'schema'],
      if: { properties: { in: { const: 'path' } } },
      then: { properties: { required: { const: true } }, required: ['required'] },
      additionalProperties: false,
    },
  },
};

const validate: ValidateFunction = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: { 'uri-reference': true, uri: true, regex: true },
}).compile(rules);

/** The first rule that a document breaks; undefined when it breaks none. */
export function openApiFault(document: object): string | undefined {
  if (!validate(document)) {
    const [error] = validate.errors ?? [];
    return `${error?.instancePath ?? ''} ${error?.message ?? ''}`;
  }
  return parameterFault(document as Paths) ?? referenceFault(document);
}

interface Paths {
  readonly paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>;
}

/** Each name in braces in a path is a parameter of each of its operations, and the other way round. */
function parameterFault({ paths }: Paths): string | undefined {
  for (const [path, item] of Object.entries(paths)) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    for (const [method, { parameters = [] }] of Object.entries(item)) {
      const told = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      if (inPath.join() !== told.join()) return `${method} ${path} tells the path parameters ${told.join()}`;
    }
  }
  return undefined;
}

/** Every reference leads somewhere. */
function referenceFault(document: object): string | undefined {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, to = '']) => to);
  return references.find((to) => {
    const found = to
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
    return found === undefined;
  });
}
