import type { Contract } from './contract.js';

const utilization = { type: 'object', properties: { util: { type: 'integer' } } };
const text = { type: 'string', minLength: 1 };
const count = { type: 'integer', minimum: 1 };
const stock = { enum: ['NONE', 'LOW', 'MEDIUM', 'HIGH'] };
const cudaVersion = { type: 'string', pattern: '^\\d+\\.\\d+$' };

const createPod = {
  type: 'object',
  required: ['name', 'image', 'gpu'],
  additionalProperties: false,
  properties: {
    name: text,
    image: text,
    gpu: {
      type: 'object',
      required: ['id'],
      additionalProperties: false,
      properties: { id: text, count, minCudaVersion: cudaVersion },
    },
    cloud: { enum: ['SECURE', 'COMMUNITY'] },
    dataCenterIds: { type: 'array', items: text },
    ports: { type: 'array', items: { type: 'string', pattern: '^\\d+/(tcp|http)$' } },
    startSsh: { type: 'boolean' },
    env: { type: 'object', additionalProperties: { type: 'string' } },
    disk: count,
    // An object where it names another entrypoint (the guide to templates).
    args: { type: 'string', maxLength: 4_096 },
    registry: { type: ['string', 'null'] },
  },
};

const endpoint = {
  type: ['object', 'null'],
  required: ['host', 'port', 'username', 'command'],
  properties: { host: text, port: { type: 'integer' }, username: text, command: text },
};

const pod = {
  type: 'object',
  required: ['id', 'name', 'status', 'ssh', 'cost'],
  properties: {
    id: text,
    name: text,
    status: { enum: ['PROVISIONING', 'STARTING', 'RUNNING', 'EXITED', 'ERROR', 'TERMINATED'] },
    ssh: {
      type: 'object',
      required: ['proxy', 'direct'],
      properties: { proxy: endpoint, direct: endpoint },
    },
    cost: { type: 'number', minimum: 0 },
    startedAt: { type: ['string', 'null'] },
    ports: { type: 'array', items: { type: 'string' } },
    runtime: {
      type: ['object', 'null'],
      properties: {
        uptime: { type: 'integer' },
        gpus: {
          type: 'array',
          items: {
            type: 'object',
            properties: { util: { type: 'integer' }, memoryUtil: { type: 'integer' } },
          },
        },
        cpu: utilization,
        memory: utilization,
        ports: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              private: { type: 'integer' },
              public: { type: ['integer', 'null'] },
              type: text,
              ip: { type: ['string', 'null'] },
            },
          },
        },
      },
    },
  },
};

const registry = { type: 'object', required: ['id', 'name'], properties: { id: text, name: text } };

const perCloud = (item: object): object => ({
  type: 'object',
  required: ['secure', 'community'],
  properties: { secure: item, community: item },
});

const gpu = {
  type: 'object',
  required: ['id', 'name', 'memory', 'price', 'maxCount'],
  properties: {
    id: text,
    name: text,
    memory: { type: 'integer' },
    price: perCloud({ type: 'number', minimum: 0 }),
    maxCount: perCloud({ type: 'integer', minimum: 0 }),
    availability: stock,
    // The field is left out when no data center has any.
    dataCenters: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'name', 'availability'],
        properties: { id: text, name: text, availability: stock },
      },
    },
  },
};

const account = {
  type: 'object',
  required: ['clientBalance', 'currentSpendPerHr'],
  properties: { clientBalance: { type: 'number' }, currentSpendPerHr: { type: 'number', minimum: 0 } },
};

/**
 * RunPod REST API v2, from openapi.json of its documentation. Of its GraphQL API, only the account, as `runpodctl user`
 * queries it.
 */
export const runpodContract: Contract = {
  requests: {
    'GET /v2/catalog/gpus': null,
    'GET /v2/pods': null,
    'POST /v2/pods': createPod,
    'DELETE /v2/pods/{id}': null,
    'GET /v2/registries': null,
    'POST /v2/registries': {
      type: 'object',
      required: ['name', 'username', 'password'],
      additionalProperties: false,
      properties: { name: text, username: text, password: text },
    },
    'DELETE /v2/registries/{id}': null,
    'POST /graphql': {
      type: 'object',
      required: ['query'],
      additionalProperties: false,
      properties: { query: { const: 'query { myself { clientBalance currentSpendPerHr } }' } },
    },
  },
  queries: {
    'GET /v2/catalog/gpus': {
      type: 'object',
      additionalProperties: false,
      properties: {
        include: { const: 'AVAILABILITY' },
        product: { enum: ['POD', 'CLUSTER', 'SERVERLESS'] },
        count: { type: 'string', pattern: '^[1-9]\\d*$' },
        cloud: { enum: ['SECURE', 'COMMUNITY'] },
        minCudaVersion: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
      },
      // A stock belongs to a product, and the rest of the query to the stock.
      required: ['include', 'product'],
    },
  },
  answers: {
    'GET /v2/catalog/gpus': {
      type: 'object',
      required: ['gpus'],
      properties: { gpus: { type: 'array', items: gpu } },
    },
    'GET /v2/pods': {
      type: 'object',
      required: ['pods'],
      properties: { pods: { type: 'array', items: pod } },
    },
    'POST /v2/pods': pod,
    'GET /v2/registries': {
      type: 'object',
      required: ['registries'],
      properties: { registries: { type: 'array', items: registry } },
    },
    'POST /v2/registries': registry,
    'POST /graphql': {
      type: 'object',
      required: ['data'],
      properties: {
        data: { type: 'object', required: ['myself'], properties: { myself: account } },
      },
    },
  },
  failure: {
    type: 'object',
    required: ['title', 'status', 'detail'],
    properties: {
      title: text,
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: text,
      errors: { type: 'array', items: text },
    },
  },
};
