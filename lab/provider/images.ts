import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LabPod } from './state.js';

/** What an image does when its container starts. */
export interface ImageHabit {
  /** Whether it starts an SSH daemon from PUBLIC_KEY, as RunPod's own images do. */
  readonly hasSshd: boolean;
  /** Whether its entrypoint runs its arguments, for real, on the lab's machine. */
  readonly runsArgs: boolean;
  /** Without a shell nothing but its own entrypoint starts. */
  readonly hasSh: boolean;
  /** The programs that it has beside its shell; absent: those of the lab's machine. */
  readonly programs?: readonly string[];
}

/** Most images run a program of their own, and nobody enters them. */
const usual: ImageHabit = { hasSshd: false, runsArgs: false, hasSh: true };
/** What each image with a shell has. */
const tools = [
  ...[
    'sh',
    'awk',
    'base64',
    'cat',
    'chmod',
    'cut',
    'date',
    'echo',
    'env',
    'grep',
    'head',
    'mkdir',
    'mktemp',
    'mv',
  ],
  ...['printf', 'rm', 'sleep', 'timeout', 'tr'],
];

const habits: readonly (readonly [image: RegExp, habit: ImageHabit])[] = [
  [/^runpod\//, { ...usual, hasSshd: true }],
  [/\/sshd-command:/, { ...usual, hasSshd: true, runsArgs: true }],
  [/\/command:/, { ...usual, runsArgs: true }],
  [/\/curl-only:/, { ...usual, programs: [...tools, 'curl'] }],
  [/\/wget-only:/, { ...usual, programs: [...tools, 'wget'] }],
  [/\/no-fetcher:/, { ...usual, programs: tools }],
  [/\/no-sh:/, { ...usual, hasSh: false, programs: [] }],
];

export function habitOf(image: string): ImageHabit {
  return habits.find(([pattern]) => pattern.test(image))?.[1] ?? usual;
}

/** Makes the programs of an image, each of which is the lab's own; none where it has them all. */
export function programsOfImage({ programs = [] }: ImageHabit): Record<string, string> {
  const at = (name: string): string =>
    ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? name;
  return Object.fromEntries(programs.map((name) => [name, `#!/bin/sh\nexec ${at(name)} "$@"\n`]));
}

/** What a container says where a program is missing. */
export const noShell = 'exec: "sh": executable file not found in $PATH';

/** A start command that names another entrypoint, as RunPod's guide to templates writes it; undefined for words alone. */
export function replacedEntrypointOf(args: string): readonly string[] | undefined {
  if (!args.startsWith('{')) return undefined;
  const { entrypoint, cmd } = JSON.parse(args) as { entrypoint: string[]; cmd: string[] };
  return [...entrypoint, ...cmd];
}

/** Images of this registry are pulled with credentials alone. */
const PRIVATE = 'registry.lab/';

/** Tells whether a container can't be started because nobody signed in to its registry. */
export function isOutOfReach({ os, registryId = null }: LabPod): boolean {
  return os.startsWith(PRIVATE) && registryId === null;
}
