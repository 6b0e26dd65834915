import type { LabPod } from './state.js';

/** What an image does when its container starts. */
export interface ImageHabit {
  /** Whether it starts an SSH daemon from PUBLIC_KEY, as RunPod's own images do. */
  readonly hasSshd: boolean;
  /** Whether its entrypoint runs its arguments, for real, on the lab's machine. */
  readonly runsArgs: boolean;
}

const habits: readonly (readonly [image: RegExp, habit: ImageHabit])[] = [
  [/^runpod\//, { hasSshd: true, runsArgs: false }],
  [/\/sshd-command:/, { hasSshd: true, runsArgs: true }],
  [/\/command:/, { hasSshd: false, runsArgs: true }],
];

/** Most images run a program of their own, and nobody enters them. */
const none: ImageHabit = { hasSshd: false, runsArgs: false };

export function habitOf(image: string): ImageHabit {
  return habits.find(([pattern]) => pattern.test(image))?.[1] ?? none;
}

/** Images of this registry are pulled with credentials alone. */
const PRIVATE = 'registry.lab/';

/** Tells whether a container can't be started because nobody signed in to its registry. */
export function isOutOfReach({ os, registryId = null }: LabPod): boolean {
  return os.startsWith(PRIVATE) && registryId === null;
}
