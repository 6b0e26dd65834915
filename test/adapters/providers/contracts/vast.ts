import type { Contract } from './contract.js';

const text = { type: 'string', minLength: 1 };
const amount = { type: 'number', minimum: 0 };
const is = (schema: object): object => ({ type: 'object', additionalProperties: false, properties: schema });
const maybe = { type: ['number', 'null'] };
const flag = is({ eq: { type: 'boolean' } });
const atLeast = is({ gte: { type: 'number' } });

const search = {
  type: 'object',
  additionalProperties: false,
  properties: {
    // The published example says "on-demand", which its own list of words does not have.
    type: { enum: ['ondemand', 'bid', 'reserved'] },
    limit: { type: 'integer', minimum: 1 },
    verified: flag,
    rentable: flag,
    rented: flag,
    num_gpus: is({ in: { type: 'array', items: { type: 'integer' } } }),
    cpu_arch: is({ in: { type: 'array', items: text } }),
    cuda_max_good: atLeast,
    direct_port_count: atLeast,
    disk_space: atLeast,
    duration: atLeast,
    allocated_storage: { type: 'number', minimum: 8 },
  },
};

const create = {
  type: 'object',
  // The label is not required there: without it a machine would not be known as ours.
  required: ['image', 'label'],
  additionalProperties: false,
  properties: {
    image: { ...text, maxLength: 1_024 },
    label: { ...text, maxLength: 256 },
    disk: { type: 'number', minimum: 8 },
    runtype: {
      enum: ['ssh', 'jupyter', 'args', 'ssh_proxy', 'ssh_direct', 'jupyter_proxy', 'jupyter_direct'],
    },
    target_state: { enum: ['running', 'stopped'] },
    cancel_unavail: { type: 'boolean' },
    // Together with the arguments, of which none are sent.
    onstart: { type: 'string', maxLength: 4_096 },
  },
};

const offer = {
  type: 'object',
  required: ['id', 'gpu_name', 'num_gpus', 'gpu_ram', 'dph_total', 'geolocation', 'end_date'],
  properties: {
    id: { type: 'integer' },
    gpu_name: text,
    num_gpus: { type: 'integer' },
    gpu_ram: amount,
    dph_total: amount,
    geolocation: text,
    end_date: amount,
    inet_up: amount,
    inet_down: amount,
    inet_up_cost: amount,
    inet_down_cost: amount,
  },
};

const mapping = {
  type: 'array',
  items: { type: 'object', required: ['HostPort'], properties: { HostPort: text } },
};

const instance = {
  type: 'object',
  required: ['id', 'label', 'actual_status', 'public_ipaddr', 'dph_total'],
  properties: {
    id: { type: 'integer' },
    label: { type: ['string', 'null'] },
    actual_status: { type: ['string', 'null'] },
    public_ipaddr: text,
    // There on running machines alone.
    ports: { type: ['object', 'null'], additionalProperties: mapping },
    dph_total: amount,
    start_date: amount,
    num_gpus: { type: 'integer' },
    gpu_util: maybe,
    cpu_util: maybe,
    mem_usage: maybe,
    mem_limit: maybe,
  },
};

/** Vast.ai API v0 and v1, from the openapi files of its documentation. */
export const vastContract: Contract = {
  requests: {
    'POST /api/v0/bundles/': search,
    'PUT /api/v0/asks/{id}/': create,
    'GET /api/v1/instances/': null,
    'DELETE /api/v0/instances/{id}/': null,
    'GET /api/v0/ssh/': null,
    'GET /api/v0/users/current/': null,
  },
  queries: {
    'GET /api/v1/instances/': {
      type: 'object',
      additionalProperties: false,
      properties: { limit: { const: '25' }, after_token: text, select_filters: text },
    },
  },
  answers: {
    'POST /api/v0/bundles/': {
      type: 'object',
      required: ['offers'],
      properties: { offers: { type: 'array', items: offer } },
    },
    'PUT /api/v0/asks/{id}/': {
      type: 'object',
      required: ['new_contract'],
      properties: { new_contract: { type: 'integer' } },
    },
    'GET /api/v1/instances/': {
      type: 'object',
      required: ['instances', 'next_token'],
      properties: {
        instances: { type: 'array', items: instance },
        next_token: { type: ['string', 'null'] },
      },
    },
    'GET /api/v0/ssh/': {
      type: 'array',
      items: { type: 'object', required: ['id', 'key'], properties: { key: text } },
    },
    'GET /api/v0/users/current/': {
      type: 'object',
      required: ['balance'],
      properties: { balance: { type: 'number' } },
    },
  },
  failure: {
    type: 'object',
    anyOf: [{ required: ['msg'] }, { required: ['detail'] }, { required: ['message'] }],
  },
};
