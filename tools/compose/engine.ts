/** The outcome of a command in a container. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a container ended when it was asked to stop. */
export interface Stopped {
  readonly service: string;
  /** 137: it had to be killed. */
  readonly code: number;
}

/** An engine that runs docker-compose.yml. */
export interface Engine {
  readonly name: string;
  /** An address of this machine that containers reach too; the stand-ins for the outside listen there. */
  readonly hostAddress: string;
  /** The profiles whose services can be had here. */
  readonly profiles: readonly string[];
  /**
   * Starts all services in the order of their conditions, and waits until each is well. @throws Error naming one that
   * is not
   */
  up(): Promise<void>;
  /** Runs a command in a service's container. */
  exec(service: string, command: readonly string[]): Promise<Outcome>;
  /** Runs a service once more, in a separate container, with these arguments in place of its command. */
  runOnce(service: string, args: readonly string[]): Promise<Outcome>;
  /** Asks each service in turn to end, dependents first. */
  stop(): Promise<readonly Stopped[]>;
  /** The last log lines of a service. */
  logsOf(service: string): Promise<string>;
  /** Removes everything of the run. */
  remove(): Promise<void>;
}
