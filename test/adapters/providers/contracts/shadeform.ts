import type { Contract } from './contract.js';

const text = { type: 'string', minLength: 1 };
const textOrNull = { type: ['string', 'null'] };
const flag = { type: 'boolean' };
const price = { type: 'integer', minimum: 0 };

const autoDelete = {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  properties: {
    date_threshold: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' },
    spend_threshold: text,
  },
};

const createRequest = {
  type: 'object',
  required: ['cloud', 'region', 'shade_instance_type', 'shade_cloud', 'name'],
  additionalProperties: false,
  properties: {
    cloud: text,
    region: text,
    shade_instance_type: text,
    shade_cloud: flag,
    name: text,
    os: text,
    ssh_key_id: text,
    tags: { type: 'array', items: text },
    auto_delete: autoDelete,
    launch_configuration: {
      type: 'object',
      required: ['type', 'script_configuration'],
      additionalProperties: false,
      properties: {
        type: { const: 'script' },
        script_configuration: {
          type: 'object',
          required: ['base64_script'],
          additionalProperties: false,
          properties: { base64_script: { type: 'string', pattern: '^[A-Za-z0-9+/]+={0,2}$' } },
        },
      },
    },
  },
};

const instance = {
  type: 'object',
  required: ['id', 'name', 'status', 'ip', 'ssh_user', 'ssh_port'],
  properties: {
    id: text,
    name: text,
    status: { enum: ['creating', 'pending_provider', 'pending', 'active', 'error', 'deleting', 'deleted'] },
    // Null before the machine has an address, in the vendor's own examples.
    ip: textOrNull,
    ssh_user: text,
    ssh_port: { type: ['integer', 'null'] },
    hourly_price: price,
    tags: { type: 'array', items: text },
    ssh_key_id: textOrNull,
  },
};

const instanceType = {
  type: 'object',
  required: ['cloud', 'shade_instance_type', 'configuration', 'hourly_price', 'availability'],
  properties: {
    cloud: text,
    shade_instance_type: text,
    hourly_price: price,
    configuration: {
      type: 'object',
      required: ['gpu_type', 'num_gpus', 'vram_per_gpu_in_gb', 'interconnect', 'os_options'],
      properties: {
        gpu_type: text,
        num_gpus: { type: 'integer' },
        vram_per_gpu_in_gb: { type: 'integer' },
        interconnect: text,
        os_options: { type: 'array', items: text },
      },
    },
    availability: {
      type: 'array',
      items: {
        type: 'object',
        required: ['region', 'available', 'display_name'],
        properties: { region: text, available: flag, display_name: text },
      },
    },
  },
};

const sshKey = {
  type: 'object',
  required: ['id', 'name', 'public_key', 'is_default'],
  properties: { id: text, name: text, public_key: text, is_default: flag },
};

const answerWithId = { type: 'object', required: ['id'], properties: { id: text } };

function listOf(name: string, items: object): object {
  return { type: 'object', required: [name], properties: { [name]: { type: 'array', items } } };
}

/** Shadeform API v1, from openapi.yaml of its documentation, which describes no failure. */
export const shadeformContract: Contract = {
  requests: {
    'GET /v1/instances/types': null,
    'GET /v1/instances': null,
    'GET /v1/instances/{id}/info': null,
    'GET /v1/sshkeys': null,
    'POST /v1/instances/create': createRequest,
    'POST /v1/instances/{id}/update': {
      type: 'object',
      required: ['auto_delete'],
      additionalProperties: false,
      properties: { auto_delete: autoDelete },
    },
    'POST /v1/instances/{id}/delete': null,
    'POST /v1/sshkeys/add': {
      type: 'object',
      required: ['name', 'public_key'],
      additionalProperties: false,
      properties: {
        name: text,
        public_key: { type: 'string', pattern: '^ssh-ed25519 [A-Za-z0-9+/]+=* .+$' },
      },
    },
    'POST /v1/sshkeys/{id}/delete': null,
  },
  queries: {
    'GET /v1/instances/types': {
      type: 'object',
      additionalProperties: false,
      properties: { available: { enum: ['true', 'false'] }, cloud: text, shade_instance_type: text },
    },
  },
  answers: {
    'GET /v1/instances/types': listOf('instance_types', instanceType),
    'GET /v1/instances': listOf('instances', instance),
    'GET /v1/instances/{id}/info': instance,
    'GET /v1/sshkeys': listOf('ssh_keys', sshKey),
    'POST /v1/instances/create': answerWithId,
    'POST /v1/sshkeys/add': answerWithId,
  },
  failure: { type: 'object' },
};
