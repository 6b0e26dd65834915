import { Ajv, type SchemaObject } from 'ajv';
import type { Dialect } from '../../../../adapters/providers/offers/gpu-models.js';
import type { Contract } from './contract.js';
import { lambdaContract } from './lambda.js';
import { runpodContract } from './runpod.js';
import { shadeformContract } from './shadeform.js';
import { vastContract } from './vast.js';

export const contracts: Readonly<Record<Dialect, Contract>> = {
  runpod: runpodContract,
  shadeform: shadeformContract,
  vast: vastContract,
  lambda: lambdaContract,
};

const ajv = new Ajv({ allErrors: true });

/** Returns the faults of a value, in words; none when it fits. */
export function faultsOf(schema: SchemaObject, value: unknown): string[] {
  const validate = ajv.compile(schema);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
  );
}

/** Returns the request's name in the tables above: ids in its path become `{id}`. */
export function operationOf(path: string): string {
  return path.replace(/\/(pods|instances|sshkeys|registries|asks)\/(?!create$|types$|add$)[^/]+/, '/$1/{id}');
}
