import { startService, type ServiceOptions, type TestService } from './living-service.js';
import { startWorkerProcess, type WorkerProcess } from './worker-process.js';

/** A service whose worker is a process of its own, which tests kill and follow by another one. */
export class KilledWorker {
  readonly #options: ServiceOptions;
  readonly #env: (service: TestService) => NodeJS.ProcessEnv | Promise<NodeJS.ProcessEnv>;
  #service: TestService | undefined;
  #worker: WorkerProcess | undefined;

  /** @param env what the worker's environment has besides the variables of every test's worker */
  constructor(
    options: ServiceOptions = {},
    env: (service: TestService) => NodeJS.ProcessEnv | Promise<NodeJS.ProcessEnv> = () => ({}),
  ) {
    this.#options = options;
    this.#env = env;
  }

  /** @throws Error before `start` */
  get service(): TestService {
    if (!this.#service) throw new Error('the service was not started');
    return this.#service;
  }

  /** Starts the service, and its first worker. */
  async start(): Promise<void> {
    this.#service = await startService({ ...this.#options, worker: false });
    await this.startWorker();
  }

  /** Starts a worker, unless there is one that nobody has killed. */
  async startWorker(): Promise<void> {
    this.#worker ??= await startWorkerProcess(this.service, await this.#env(this.service));
  }

  /** Sends the worker SIGKILL, and waits until it is gone. */
  async kill(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.kill();
  }

  /** What the worker that runs has logged, line by line. */
  logged(): Record<string, unknown>[] {
    return this.#worker?.logged() ?? [];
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.#service?.stop();
  }
}
