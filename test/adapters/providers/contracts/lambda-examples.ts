import type { ProviderErrorKind } from '../../../../adapters/providers/provider.js';

/** Answers in Lambda's documented forms, with values of our own. */

const type = {
  ...{ name: 'gpu_1x_h100_sxm5', description: '1x H100 (80 GB SXM5)', gpu_description: 'H100 (80 GB SXM5)' },
  price_cents_per_hour: 329,
  specs: { vcpus: 26, memory_gib: 225, storage_gib: 2_816, gpus: 1 },
};
const texas = { name: 'us-south-1', description: 'Texas, USA' };
const regions = { regions_with_capacity_available: [texas] };
const named = (name: string, gpu: string, more: object = {}): object => ({
  instance_type: { ...type, name, description: `1x ${gpu}`, gpu_description: gpu, ...more },
  ...regions,
});

export const lambdaTypes = {
  gpu_1x_h100_sxm5: { instance_type: type, ...regions },
  gpu_8x_b200_sxm6: {
    ...named('gpu_8x_b200_sxm6', 'B200 (180 GB SXM6)', { specs: { ...type.specs, gpus: 8 } }),
    regions_with_capacity_available: [],
  },
  gpu_1x_gh200: named('gpu_1x_gh200', 'GH200 (96 GB)'),
  gpu_1x_a10: named('gpu_1x_a10', 'A10 (24 GB PCIe)'),
  gpu_1x_a100_sxm4: {
    ...named('gpu_1x_a100_sxm4', 'A100 (40 GB SXM4)'),
    regions_with_capacity_available: [texas, { name: 'mars-north-1', description: 'Olympus, Mars' }],
  },
  gpu_1x_imaginary: named('gpu_1x_imaginary', 'Imaginary (999 GB SXM9)'),
  cpu_4x_general: named('cpu_4x_general', 'N/A', { specs: { ...type.specs, gpus: 0 } }),
};

const available = { available: true };
const instance = {
  ...{ ssh_key_names: ['test-machines'], file_system_names: [], region: texas, instance_type: type },
  actions: { migrate: available, rebuild: available, restart: available, terminate: available },
};
const tagged = (name: string): object => ({ name, tags: [{ key: 'gpu-rental', value: name }] });

export const lambdaInstances = {
  booting: { ...instance, ...tagged('test-rent-1'), id: 'i1', status: 'booting' },
  active: { ...instance, ...tagged('test-rent-2'), id: 'i2', status: 'active', ip: '192.0.2.7' },
  /** Somebody renamed it in the console; its tag tells it. */
  renamed: { ...instance, ...tagged('test-rent-3'), name: 'mine', id: 'i3', status: 'unhealthy' },
  preempted: { ...instance, ...tagged('test-rent-4'), id: 'i4', status: 'preempted' },
  terminating: { ...instance, ...tagged('test-rent-5'), id: 'i5', status: 'terminating' },
  terminated: { ...instance, ...tagged('test-rent-6'), id: 'i6', status: 'terminated' },
  elsewhere: { ...instance, name: 'someone else', id: 'i7', status: 'active', ip: '192.0.2.8' },
};

const failure = (code: string, message: string): object => ({
  error: { code, message, suggestion: 'Contact Support if problems continue.' },
});

/** Every documented failure of a launch. */
export const lambdaFailures: readonly (readonly [number, object, ProviderErrorKind])[] = [
  [400, failure('instance-operations/launch/insufficient-capacity', 'not enough'), 'no_capacity'],
  [400, failure('global/invalid-parameters', 'not valid'), 'refused'],
  [400, failure('global/quota-exceeded', 'too many'), 'refused'],
  [400, failure('global/object-does-not-exist', 'no such image'), 'no_capacity'],
  [401, failure('global/invalid-api-key', 'no such key'), 'refused'],
  [403, failure('global/account-inactive', 'not verified'), 'refused'],
  [403, failure('global/invalid-address', 'no address'), 'refused'],
  [404, failure('global/object-does-not-exist', 'no such key'), 'no_capacity'],
  [429, failure('global/rate-limited', 'too frequent'), 'rate_limited'],
  [500, failure('global/internal-error', 'try again'), 'unknown'],
  [500, failure('provider/internal-unavailable', 'try again'), 'unknown'],
];
