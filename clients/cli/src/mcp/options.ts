import type { Readable, Writable } from 'node:stream';
import type { GpuRental, Rental } from '@gpu-rental/client';

/** What the server for agents works with. */
export interface McpOptions {
  readonly client: GpuRental;
  /** Lets it spend by a key without a cap, or by a session. */
  readonly allowUncapped: boolean;
  readonly version: string;
  /** How its user gives it a key of its own with a cap, after "run". */
  readonly ownKeyBy: string;
  /** The service's time in milliseconds. */
  now(): number;
  /** The public half of the key by which this machine enters rented ones, as a line of authorized_keys. */
  publicKey(): Promise<string>;
  /** The words of the command line by which this machine enters a rented one: ssh, its options, its address. */
  sshCommand(rental: Rental): Promise<readonly string[]>;
  readonly stdin: Readable;
  /** Carries the protocol and nothing else. */
  readonly stdout: Writable;
  /** Ends the server. */
  readonly signal?: AbortSignal | undefined;
}
