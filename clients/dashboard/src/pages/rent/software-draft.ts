import type { NewRental } from '@gpu-rental/client';
import { plainDigits } from '../../format/digits.js';

/** What a request says of own software. */
export type OwnSoftware = Pick<
  NewRental,
  'image' | 'entrypoint' | 'registryAuth' | 'args' | 'env' | 'startScript' | 'ports' | 'diskGb'
>;
type Port = NonNullable<OwnSoftware['ports']>[number];

/** A port as it is typed. */
export interface PortLine {
  /** Stays while the line is edited. */
  readonly no: number;
  readonly name: string;
  readonly port: string;
  readonly kind: Port['kind'];
  readonly isPublic: boolean;
}

/** Own software as it is typed. */
export interface SoftwareDraft {
  readonly image: string;
  /** Whether the script, or the arguments, take the place of the image's entrypoint. */
  readonly replaces: boolean;
  readonly username: string;
  readonly password: string;
  /** One in each line. */
  readonly args: string;
  /** KEY=value in each line. */
  readonly env: string;
  readonly startScript: string;
  readonly ports: readonly PortLine[];
  readonly diskGb: string;
}

/** What is not right in a draft. */
export interface DraftFaults {
  readonly registryAuth: boolean;
  /** Nothing takes the place of the entrypoint. */
  readonly entrypoint: boolean;
  /** The number of the first line that is no variable; undefined for none. */
  readonly envLine: number | undefined;
  /** The lines of ports, by their `no`. */
  readonly ports: ReadonlySet<number>;
  readonly diskGb: boolean;
}

/** Own software of the form: it may hold secrets, so it lives in the memory of the page alone. */
export interface HeldSoftware {
  readonly draft: SoftwareDraft;
  /** What of it the service is asked for. */
  readonly asked: OwnSoftware;
}

export const MAX_PORTS = 10;
const MAX_DISK_GB = 2_000;
const SSH_PORT = 22;

/** Nothing besides a template. */
export const noSoftware: HeldSoftware = {
  draft: {
    ...{ image: '', replaces: false, username: '', password: '', args: '', env: '', startScript: '' },
    ...{ ports: [], diskGb: '' },
  },
  asked: {},
};

/** Reads a draft; what is not right is told, and left out of what is asked for. */
export function readDraft(draft: SoftwareDraft): {
  readonly asked: OwnSoftware;
  readonly faults: DraftFaults;
} {
  const { username, password } = draft;
  const image = draft.image.trim();
  const args = linesOf(draft.args).filter((line) => line.trim() !== '');
  const { env, wrongLine } = readEnv(draft.env);
  const { ports, wrong } = readPorts(draft.ports);
  const diskGb = wholeFrom(draft.diskGb, MAX_DISK_GB);
  const entrypoint = readEntrypoint(draft, image, args);
  const asked = {
    ...(image !== '' && { image }),
    ...entrypoint.asked,
    ...(username !== '' && password !== '' && { registryAuth: { username, password } }),
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(draft.startScript.trim() !== '' && { startScript: draft.startScript }),
    ...(ports.length > 0 && { ports }),
    ...(diskGb !== undefined && { diskGb }),
  };
  const faults = {
    registryAuth: (username === '') !== (password === ''),
    entrypoint: entrypoint.isMissing,
    envLine: wrongLine,
    ports: wrong,
    diskGb: draft.diskGb.trim() !== '' && diskGb === undefined,
  };
  return { asked, faults };
}

function readEntrypoint({ replaces, startScript }: SoftwareDraft, image: string, args: readonly string[]) {
  const isReplaced = replaces && image !== '';
  const isThere = startScript.trim() !== '' || args.length > 0;
  const asked: Pick<OwnSoftware, 'entrypoint'> = isReplaced && isThere ? { entrypoint: 'replace' } : {};
  return { asked, isMissing: isReplaced && !isThere };
}

/** Tells whether something of a draft is not right. */
export function isFaulty({ registryAuth, entrypoint, envLine, ports, diskGb }: DraftFaults): boolean {
  return registryAuth || entrypoint || envLine !== undefined || ports.size > 0 || diskGb;
}

const linesOf = (text: string): string[] => text.split(/\r?\n/);

/** As in a file of variables: empty lines and those that begin with # are none, and a value is taken as it is. */
function readEnv(text: string) {
  const lines = linesOf(text);
  const isVariable = (line: string): boolean => line.indexOf('=') > 0;
  const isSkipped = (line: string): boolean => line.trim() === '' || line.trimStart().startsWith('#');
  const wrong = lines.findIndex((line) => !isSkipped(line) && !isVariable(line));
  const pairs = lines
    .filter((line) => !isSkipped(line) && isVariable(line))
    .map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at).trim(), line.slice(at + 1)] as const;
    });
  return { env: Object.fromEntries(pairs), wrongLine: wrong === -1 ? undefined : wrong + 1 };
}

function readPorts(lines: readonly PortLine[]) {
  const typed = lines.filter(({ name, port }) => name.trim() !== '' || port.trim() !== '');
  const read = typed.map((line) => ({ no: line.no, port: portOf(line) }));
  return {
    ports: read.flatMap(({ port }) => port ?? []),
    wrong: new Set(read.filter(({ port }) => port === undefined).map(({ no }) => no)),
  };
}

function portOf({ name, port: text, kind, isPublic }: PortLine): Port | undefined {
  const port = wholeFrom(text, 65_535);
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(name.trim()) || port === undefined || port === SSH_PORT)
    return undefined;
  return { name: name.trim(), port, kind, public: isPublic };
}

/** A whole number from 1 to the most. @returns undefined for anything else */
function wholeFrom(text: string, most: number): number | undefined {
  const plain = plainDigits(text).trim();
  const whole = /^\d{1,6}$/.test(plain) ? Number(plain) : 0;
  return whole >= 1 && whole <= most ? whole : undefined;
}
