import type { ProviderErrorKind } from '../../../../adapters/providers/provider.js';

/** Answers in the vendors' documented forms, with values of our own. */

const endpoint = (host: string, port: number, username: string): object => ({
  ...{ host, port, username },
  command: `ssh ${username}@${host} -p ${port}`,
});

const runpodPod = {
  image: 'runpod/pytorch:1.0.2-cu1281-torch280-ubuntu2404',
  args: '',
  disk: 50,
  ports: ['22/tcp'],
  env: { PUBLIC_KEY: 'ssh-ed25519 AAAA' },
  registry: null,
  actions: ['terminate'],
  mounts: {},
  gpu: { id: 'NVIDIA L4', count: 2 },
  cloud: 'SECURE',
  dataCenterId: 'EU-SE-1',
  cudaVersion: '12.8',
  template: null,
  cost: 0.78,
  locked: false,
  globalNetworking: { enabled: false },
  runtime: null,
  createdAt: '2026-06-01T12:00:00Z',
  startedAt: null,
};
const proxy = endpoint('ssh.runpod.io', 22, 'q1w2e3-4a5b6c7d');
const noDirect = { proxy, direct: null };

export const runpodPods = {
  placed: {
    ...{ ...runpodPod, id: 'p0', name: 'test-rent-0', status: 'PROVISIONING' },
    ssh: { proxy: null, direct: null },
  },
  starting: { ...runpodPod, id: 'p1', name: 'test-rent-1', status: 'STARTING', ssh: noDirect },
  active: {
    ...{ ...runpodPod, id: 'p2', name: 'test-rent-2', status: 'RUNNING', startedAt: '2026-06-01T12:02:00Z' },
    runtime: {
      ...{ uptime: 9, cpu: { util: 45 }, memory: { util: 31 } },
      gpus: [
        { util: 94, memoryUtil: 78 },
        { util: 4, memoryUtil: 0 },
      ],
    },
    ssh: { proxy, direct: endpoint('192.0.2.7', 34_446, 'root') },
  },
  exited: { ...runpodPod, id: 'p3', name: 'test-rent-3', status: 'EXITED', ssh: noDirect, cost: 0 },
  errored: { ...runpodPod, id: 'p4', name: 'test-rent-4', status: 'ERROR', ssh: noDirect },
  terminated: { ...runpodPod, id: 'p5', name: 'test-rent-5', status: 'TERMINATED', ssh: noDirect, cost: 0 },
};

const runpodGpu = {
  ...{ id: 'NVIDIA L4', name: 'L4', pool: 'AMPERE_24', manufacturer: 'NVIDIA', memory: 24 },
  ...{ secure: true, community: false, maxCount: { secure: 8, community: 0 } },
  price: { secure: 0.39, community: 0, serverless: 0.69 },
};

export const runpodGpus = {
  sold: {
    ...runpodGpu,
    availability: 'MEDIUM',
    dataCenters: [
      { id: 'EU-SE-1', name: 'EU Sweden 1', availability: 'MEDIUM' },
      { id: 'US-KS-2', name: 'US Kansas 2', availability: 'NONE' },
    ],
  },
  soldOut: { ...runpodGpu, id: 'NVIDIA L40', name: 'L40', memory: 48, availability: 'NONE' },
};

const problem = (status: number, title: string, detail: string, errors?: string[]): object => ({
  ...{ title, status, detail },
  ...(errors === undefined ? {} : { errors }),
});

/** Every documented failure of a create. */
export const runpodFailures: readonly (readonly [number, object, ProviderErrorKind])[] = [
  [400, problem(400, 'Bad Request', 'no capacity for this combination'), 'no_capacity'],
  [401, problem(401, 'Unauthorized', 'no bearer token'), 'refused'],
  [402, problem(402, 'Payment Required', 'the balance is too low'), 'refused'],
  [403, problem(403, 'Forbidden', 'no access to this pool'), 'no_capacity'],
  [404, problem(404, 'Not Found', 'no such resource'), 'no_capacity'],
  [422, problem(422, 'Unprocessable Entity', 'not valid', ['$.disk: must be >= 1']), 'refused'],
  [429, problem(429, 'Too Many Requests', 'the minute window is used up'), 'rate_limited'],
  [500, problem(500, 'Internal Server Error', 'try again'), 'unknown'],
  [503, problem(503, 'Service Unavailable', 'try again'), 'unknown'],
];

const shadeformInstance = {
  ...{ cloud: 'hyperstack', region: 'montreal-canada-2', shade_instance_type: 'A6000' },
  ...{ cloud_instance_type: 'gpu_1x_a6000', cloud_assigned_id: 'c-1', shade_cloud: true },
  configuration: {
    num_gpus: 1,
    gpu_type: 'A6000',
    vram_per_gpu_in_gb: 48,
    os: 'ubuntu22.04_cuda12.2_shade_os',
  },
  ...{ ssh_user: 'shadeform', cost_estimate: '0.1', hourly_price: 57, ssh_key_id: 'key-1' },
  ...{ created_at: '2026-06-01T12:00:00Z', active_at: null, deleted_at: null },
  boot_time: { min_boot_in_sec: 300, max_boot_in_sec: 600 },
};
const noAddress = { ip: null, ssh_port: null };

export const shadeformInstances = {
  pending: {
    ...{ ...shadeformInstance, ...noAddress, id: 'i1', name: 'test-rent-1', tags: ['test-rent-1'] },
    ...{ status: 'pending_provider', status_details: 'waiting' },
  },
  active: {
    ...{ ...shadeformInstance, id: 'i2', name: 'test-rent-2', tags: ['test-rent-2'], status: 'active' },
    ...{ ip: '192.0.2.7', ssh_port: 22 },
  },
  errored: {
    ...{ ...shadeformInstance, ...noAddress, id: 'i3', name: 'test-rent-3', tags: ['test-rent-3'] },
    ...{ status: 'error', status_details: 'the cloud failed' },
  },
};

export const shadeformTypes = {
  sold: {
    ...{ cloud: 'hyperstack', shade_instance_type: 'A6000', cloud_instance_type: 'gpu_1x_a6000' },
    ...{ hourly_price: 57, deployment_type: 'vm', boot_time: { min_boot_in_sec: 300, max_boot_in_sec: 600 } },
    configuration: {
      ...{ memory_in_gb: 57, storage_in_gb: 100, vcpus: 28, num_gpus: 1, gpu_type: 'A6000' },
      ...{ interconnect: 'pcie', nvlink: false, vram_per_gpu_in_gb: 48, gpu_manufacturer: 'nvidia' },
      os_options: ['ubuntu22.04_cuda12.2_shade_os', 'ubuntu24.04_cuda12.8_shade_os'],
    },
    availability: [
      { region: 'montreal-canada-2', available: true, display_name: 'Canada, Montreal' },
      { region: 'oslo-norway-1', available: false, display_name: 'Norway, Oslo' },
    ],
  },
};

/** The forms that an error can take: the vendor documents neither status nor body. */
export const shadeformFailures: readonly (readonly [number, object, ProviderErrorKind])[] = [
  [400, { error: 'out of capacity' }, 'no_capacity'],
  [404, { message: 'no such type' }, 'no_capacity'],
  [409, { error: 'out of capacity, try the next' }, 'no_capacity'],
  [410, {}, 'no_capacity'],
  [401, { error: 'no such key' }, 'refused'],
  [402, { error: 'balance' }, 'refused'],
  [403, { error: 'quota' }, 'refused'],
  [422, { detail: 'not valid' }, 'refused'],
  [429, { error: 'slow down' }, 'rate_limited'],
  [500, { error: 'try again' }, 'unknown'],
];
