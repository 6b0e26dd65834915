import type { ProviderErrorKind } from '../../../../adapters/providers/provider.js';

/** Answers in Vast's documented forms, with values of our own. */

/** Far off, as an instant in seconds. */
const endDate = 4_000_000_000;

const offer = {
  ...{ id: 7_000_001, gpu_name: 'RTX 4090', num_gpus: 1, gpu_ram: 24_564, gpu_total_ram: 24_564 },
  ...{ dph_base: 0.39, dph_total: 0.394_1, storage_cost: 0.1, geolocation: 'Texas, US' },
  ...{ inet_up: 900, inet_down: 800, inet_up_cost: 0, inet_down_cost: 0 },
  ...{ cpu_cores_effective: 16, cpu_ram: 64_381, disk_space: 312.4, end_date: endDate, duration: 2_592_000 },
  ...{ cuda_max_good: 12.8, driver_version: '570.86.15', reliability2: 0.998, direct_port_count: 12 },
};

export const vastOffers = {
  sold: offer,
  /** A name for two sizes, of which the memory tells this one. */
  a100: { ...offer, id: 7_000_002, gpu_name: 'A100 SXM4', gpu_ram: 81_920, dph_total: 1.1 },
  /** $0.0000006 a GB for 1.7 GB a second: under a twentieth of the price. */
  nearlyFree: { ...offer, id: 7_000_003, inet_up_cost: 0.000_000_6, inet_down_cost: 0.000_000_6 },
  dearTraffic: { ...offer, id: 7_000_004, inet_up_cost: 0.01 },
  untoldTraffic: { ...offer, id: 7_000_005, inet_down_cost: null },
  untoldSpeed: { ...offer, id: 7_000_006, inet_up: null, inet_up_cost: 0.000_001 },
  unknown: { ...offer, id: 7_000_007, gpu_name: 'Imaginary RTX 9999' },
  nowhere: { ...offer, id: 7_000_008, geolocation: ', ' },
  ending: { ...offer, id: 7_000_009, end_date: 1_700_000_000 },
  /** In milliseconds. */
  endless: { ...offer, id: 7_000_011, end_date: endDate * 1_000 },
  priceless: { ...offer, id: 7_000_010, dph_total: 0 },
};

const instance = {
  ...{ label: null, cur_state: 'running', next_state: 'running', intended_status: 'running' },
  ...{ image_uuid: 'nvidia/cuda:12.8.1-base-ubuntu24.04', image_runtype: 'ssh_direct', is_bid: false },
  ...{ public_ipaddr: '192.0.2.7', ssh_host: 'ssh1.example.org', ssh_port: 10_600, ports: null },
  ...{ dph_base: 0.39, dph_total: 0.394_1, gpu_name: 'RTX 4090', num_gpus: 1, end_date: endDate },
};
const mapped = (port: string): object => ({ '22/tcp': [{ HostIp: '0.0.0.0', HostPort: port }] });

export const vastInstances = {
  created: { ...instance, id: 100, label: 'test-rent-0', actual_status: null },
  loading: { ...instance, id: 101, label: 'test-rent-1', actual_status: 'loading' },
  running: {
    ...{ ...instance, id: 102, label: 'test-rent-2', actual_status: 'running' },
    start_date: 1_761_008_618.225,
    ...{ ports: mapped('34446'), num_gpus: 4, gpu_util: 21.5, cpu_util: 3.5, mem_usage: 2, mem_limit: 16 },
  },
  stopped: { ...instance, id: 103, label: 'test-rent-3', actual_status: 'stopped' },
  exited: { ...instance, id: 104, label: 'test-rent-4', actual_status: 'exited' },
  offline: { ...instance, id: 105, label: 'test-rent-5', actual_status: 'offline', ports: mapped('34447') },
  elsewhere: { ...instance, id: 106, label: 'someone else', actual_status: 'running' },
};

const failure = (error: string, msg: string): object => ({ success: false, error, msg });

/** Every documented failure of a create, and those that others have seen. */
export const vastFailures: readonly (readonly [number, object, ProviderErrorKind])[] = [
  [400, failure('invalid_args', 'the offer is not valid'), 'no_capacity'],
  [400, failure('insufficient_credit', 'the account lacks credit'), 'refused'],
  [400, { ...failure('invalid_args', 'it was made all the same'), new_contract: 9 }, 'unknown'],
  [401, failure('auth_error', 'no such key'), 'refused'],
  [402, failure('insufficient_credit', 'the account lacks credit'), 'refused'],
  [403, failure('invalid_args', 'hosts rent their own'), 'refused'],
  [404, failure('invalid_args', 'no_such_ask'), 'no_capacity'],
  [410, failure('no_such_ask', 'no longer available'), 'no_capacity'],
  [429, { detail: 'API requests too frequent endpoint threshold=4.5' }, 'rate_limited'],
  [500, { msg: 'try again' }, 'unknown'],
  [200, { success: false, msg: 'no contract' }, 'unknown'],
];
