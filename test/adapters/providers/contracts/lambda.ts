import type { Contract } from './contract.js';

const text = { type: 'string', minLength: 1 };
const count = { type: 'integer', minimum: 0 };
const listOf = (items: object): object => ({ type: 'array', items });
const described = { type: 'object', required: ['name', 'description'] };

const launch = {
  type: 'object',
  // A name is not required there: without it a machine would not be known as ours.
  required: ['region_name', 'instance_type_name', 'ssh_key_names', 'name'],
  additionalProperties: false,
  properties: {
    region_name: text,
    instance_type_name: text,
    ssh_key_names: { type: 'array', items: text, minItems: 1, maxItems: 1 },
    name: { ...text, maxLength: 64 },
    image: {
      type: 'object',
      required: ['family'],
      additionalProperties: false,
      properties: { family: text },
    },
    user_data: { type: 'string', maxLength: 1_000_000 },
    tags: listOf({
      type: 'object',
      required: ['key', 'value'],
      additionalProperties: false,
      properties: {
        key: { type: 'string', maxLength: 55, pattern: '^[a-z][a-z0-9-:]+$' },
        value: { type: 'string', maxLength: 128 },
      },
    }),
  },
};

const instanceType = {
  type: 'object',
  required: ['name', 'description', 'gpu_description', 'price_cents_per_hour', 'specs'],
  properties: {
    name: text,
    gpu_description: text,
    price_cents_per_hour: count,
    specs: {
      type: 'object',
      required: ['vcpus', 'memory_gib', 'storage_gib', 'gpus'],
      properties: { vcpus: count, memory_gib: count, storage_gib: count, gpus: count },
    },
  },
};

const instance = {
  type: 'object',
  required: ['id', 'status', 'ssh_key_names', 'file_system_names', 'region', 'instance_type', 'actions'],
  properties: {
    id: text,
    name: { type: 'string', maxLength: 64 },
    // Left out before the machine has an address.
    ip: text,
    status: { enum: ['booting', 'active', 'unhealthy', 'terminated', 'terminating', 'preempted'] },
    region: described,
    instance_type: instanceType,
    tags: listOf({ type: 'object', required: ['key', 'value'] }),
  },
};

const key = {
  type: 'object',
  required: ['id', 'name', 'public_key'],
  properties: { id: text, name: text, public_key: text },
};

const dataOf = (schema: object): object => ({
  type: 'object',
  required: ['data'],
  properties: { data: schema },
});

/** Lambda Cloud API v1, from its OpenAPI description 1.10.0. */
export const lambdaContract: Contract = {
  requests: {
    'GET /api/v1/instance-types': null,
    'GET /api/v1/instances': null,
    'POST /api/v1/instance-operations/launch': launch,
    'POST /api/v1/instance-operations/terminate': {
      type: 'object',
      required: ['instance_ids'],
      additionalProperties: false,
      properties: { instance_ids: { type: 'array', items: text, minItems: 1 } },
    },
    'GET /api/v1/ssh-keys': null,
    'POST /api/v1/ssh-keys': {
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      properties: { name: { ...text, maxLength: 64 }, public_key: { ...text, maxLength: 4_096 } },
    },
  },
  queries: {},
  answers: {
    'GET /api/v1/instance-types': dataOf({
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['instance_type', 'regions_with_capacity_available'],
        properties: {
          instance_type: instanceType,
          regions_with_capacity_available: listOf(described),
        },
      },
    }),
    'GET /api/v1/instances': dataOf(listOf(instance)),
    'POST /api/v1/instance-operations/launch': dataOf({
      type: 'object',
      required: ['instance_ids'],
      properties: { instance_ids: listOf(text) },
    }),
    'GET /api/v1/ssh-keys': dataOf(listOf(key)),
    'POST /api/v1/ssh-keys': dataOf(key),
  },
  failure: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: { code: text, message: text, suggestion: text },
      },
    },
  },
};
