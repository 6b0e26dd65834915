/** A service of docker-compose.yml, with the keys that tests read. */
interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly restart?: string;
  readonly environment?: Readonly<Record<string, string | number | null>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
  readonly ports?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly mem_limit?: string;
  readonly profiles?: readonly string[];
  readonly networks: readonly string[];
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: object;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
}

const text = { type: 'string', minLength: 1 };
const texts = { type: 'array', items: text, minItems: 1 };
const duration = { type: 'string', pattern: '^([0-9]+(ms|s|m|h))+$' };
/** Null: the variable is passed on when it is set. */
const variable = { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] };

/**
 * The keys of the Compose Specification (https://compose-spec.io) that this project's file uses. Any other key is a
 * slip or belongs here.
 */
export const composeSchema = {
  type: 'object',
  required: ['services'],
  patternProperties: { '^x-': {} },
  additionalProperties: false,
  properties: {
    volumes: { type: 'object', additionalProperties: { type: 'null' } },
    networks: {
      type: 'object',
      additionalProperties: {
        anyOf: [
          { type: 'null' },
          { type: 'object', additionalProperties: false, properties: { internal: { type: 'boolean' } } },
        ],
      },
    },
    services: {
      type: 'object',
      minProperties: 1,
      additionalProperties: {
        type: 'object',
        required: ['image', 'restart', 'networks'],
        additionalProperties: false,
        properties: {
          image: { type: 'string', pattern: '^[a-z0-9./-]+:[a-zA-Z0-9.-]+$' },
          build: text,
          init: { type: 'boolean' },
          profiles: texts,
          restart: { enum: ['no', 'always', 'on-failure', 'unless-stopped'] },
          entrypoint: texts,
          command: texts,
          stop_grace_period: duration,
          security_opt: texts,
          cap_drop: texts,
          ports: { type: 'array', items: { type: 'string', pattern: '^127\\.0\\.0\\.1:.+:[0-9]+$' } },
          // A volume of the file's own, or a folder of the project that nothing writes to.
          volumes: {
            type: 'array',
            items: { type: 'string', pattern: '^([a-z-]+:/[a-z/-]+|\\./[a-z/]+:/[a-z/]+:ro)$' },
          },
          user: { type: 'string', pattern: '^[0-9]+:[0-9]+$' },
          read_only: { type: 'boolean' },
          tmpfs: texts,
          shm_size: { type: 'string', pattern: '^[0-9]+[mg]$' },
          mem_limit: { type: 'string', pattern: '^[0-9]+[mg]$' },
          networks: texts,
          environment: {
            type: 'object',
            propertyNames: { pattern: '^[A-Z][A-Z0-9_]*$' },
            additionalProperties: variable,
          },
          depends_on: {
            type: 'object',
            additionalProperties: {
              type: 'object',
              required: ['condition'],
              additionalProperties: false,
              properties: {
                condition: { enum: ['service_started', 'service_healthy', 'service_completed_successfully'] },
              },
            },
          },
          healthcheck: {
            type: 'object',
            required: ['test'],
            additionalProperties: false,
            properties: {
              test: { ...texts, contains: { enum: ['CMD', 'CMD-SHELL'] } },
              interval: duration,
              timeout: duration,
              start_period: duration,
              retries: { type: 'integer', minimum: 1 },
            },
          },
        },
      },
    },
  },
} as const;
