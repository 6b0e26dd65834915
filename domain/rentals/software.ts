import { HOUR, MINUTE, SECOND } from '../durations.js';
import type { SoftwareId } from '../ids.js';
import type { TemplateId } from '../catalog/templates.js';
import {
  argsCharsOf,
  base64CharsOf,
  bytesOf,
  exportCharsOf,
  type EntrypointChoice,
} from './start-command.js';

/** A port that a renter's software listens on. One that is not public is not opened at the upstream. */
export interface SoftwarePort {
  readonly name: string;
  readonly port: number;
  readonly kind: 'http' | 'tcp';
  readonly public: boolean;
}

export interface RegistryAuth {
  readonly username: string;
  readonly password: string;
}

/** The part of own software that its renter alone may read: it is sealed at rest (decision 154, "Sealed software"). */
export interface SoftwareSecrets {
  /** The arguments of what starts in the image, or that itself where it has no other entrypoint; they may hold tokens. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly startScript: string | null;
  readonly registryAuth: RegistryAuth | null;
}

/** What a renter wants to run on a machine (decision 153, "Own software"). */
export interface Software extends SoftwareSecrets {
  /** null: what the template starts. */
  readonly image: string | null;
  readonly entrypoint: EntrypointChoice;
  readonly ports: readonly SoftwarePort[];
  /** null: what the upstream gives by itself. */
  readonly diskGb: number | null;
}

/** A wish for nothing besides the template. */
export const noSoftware: Software = {
  ...{ image: null, entrypoint: 'keep', args: [], env: {}, startScript: null, registryAuth: null },
  ...{ ports: [], diskGb: null },
};

/** Own software without its secrets: what an upstream is chosen by, and what answers show. */
export interface SoftwareOutline extends Pick<Software, 'image' | 'ports' | 'diskGb'> {
  /** Absent: it is kept, as in what the release before wrote. */
  readonly entrypoint?: 'replace';
  /** Under which the secrets are sealed; null where there are none. */
  readonly secretsId: SoftwareId | null;
  readonly envNames: readonly string[];
  readonly longestEnvChars: number;
  readonly envChars: number;
  /** Of the lines by which a start script exports the variables. Absent: not counted, as in what the release before wrote. */
  readonly exportChars?: number;
  /** In a start command, with what quotes them there. */
  readonly argsChars: number;
  readonly scriptBytes: number;
  readonly hasRegistryAuth: boolean;
}

/** The limits of a request's own software, whatever the upstream. */
export const softwareLimits = {
  envPairs: 64,
  envValueMaxChars: 32_768,
  /** Of names and values, where an upstream tells no limit. */
  envMaxChars: 131_072,
  scriptMaxBytes: 64 * 1024,
  ports: 10,
  args: 64,
  argMaxChars: 4_096,
  imageMaxChars: 512,
  credentialMaxChars: 8_192,
  diskMaxGb: 2_000,
  portNameMaxChars: 32,
  /** A request may be as large as its script, its variables and what JSON adds to them. */
  bodyMaxBytes: 256 * 1024,
  /** How long after the upstream calls its machine running it is billed at the latest (decision 155, "Ready or not"). */
  graceMs: 120 * SECOND,
  graceMaxMs: HOUR,
  /** A quote holds for a minute, and who takes it is answered within half of one. */
  secretsKeptMs: 2 * MINUTE,
} as const;

/** What is started instead of a template where an image is the renter's own. Offers that take own software list it as they list templates. */
export const ownSoftwareId = 'own-software';

/** What an upstream can do with own software; its adapter declares it. Absent: nothing. */
export interface SoftwareCapabilities {
  /** Whether the machine is the image, or runs it in a container of its own, or neither. */
  readonly image: 'machine' | 'container' | 'none';
  /** Whether a wish may replace an image's entrypoint. Absent: it is kept always. */
  readonly entrypoint?: boolean;
  readonly registryAuth: boolean;
  /** Whether it runs a script itself, beside a template. Inside of an image one runs in the place of the entrypoint alone. */
  readonly startScript: boolean;
  /** The largest script. Absent: that of a request. */
  readonly scriptMaxBytes?: number;
  /**
   * Present where its machines fetch a script from us (decision 173, "The bootstrap"): one without variables that is no
   * larger than this is handed to the upstream all the same.
   */
  readonly handsOverBytes?: number;
  readonly argsMaxChars: number;
  /** The templates that get variables by themselves; elsewhere an image or a start script alone does. Absent: none. */
  readonly envTemplates?: readonly TemplateId[];
  readonly envValueMaxChars: number;
  readonly envMaxChars: number;
  /** How many ports of each kind it opens; one that is not public counts for none. */
  readonly httpPorts: number;
  readonly tcpPorts: number;
  /** The most characters of SSH keys (`keysCharsOf`), which may share their place with a start script. Absent: no limit. */
  readonly keysMaxChars?: { readonly alone: number; readonly besideScript: number };
  /** Whether a port that is not public stays closed. */
  readonly keepsClosed: boolean;
  /** The largest disk that may be asked for; 0: it tells no size that it could be held to. */
  readonly diskMaxGb: number;
}

/** One thing of a wish that an upstream can't do. It never repeats a value. */
export interface Misfit {
  readonly field:
    | 'image'
    | 'entrypoint'
    | 'registryAuth'
    | 'args'
    | 'env'
    | 'startScript'
    | 'ports'
    | 'diskGb'
    | 'sshKeyIds';
  /** The most that it can do; null: it can't at all. */
  readonly limit: number | null;
  readonly message: string;
}

/** Describes own software by what is no secret. @param secretsId null where there are no secrets */
export function outlineOf(software: Software, secretsId: SoftwareOutline['secretsId']): SoftwareOutline {
  const { image, entrypoint, ports, diskGb, env, startScript, registryAuth } = software;
  const values = Object.entries(env).map(([name, value]) => name.length + value.length);
  return {
    ...{ image, ports, diskGb, secretsId },
    ...(entrypoint === 'replace' && { entrypoint }),
    envNames: Object.keys(env),
    longestEnvChars: Math.max(0, ...Object.values(env).map((value) => value.length)),
    envChars: values.reduce((sum, chars) => sum + chars, 0),
    exportChars: exportCharsOf(env),
    argsChars: argsCharsOf(software),
    scriptBytes: startScript === null ? 0 : bytesOf(startScript),
    hasRegistryAuth: registryAuth !== null,
  };
}

/** Tells whether a wish has anything that must be sealed. */
export function holdsSecrets({ args, env, startScript, registryAuth }: SoftwareSecrets): boolean {
  return args.length > 0 || Object.keys(env).length > 0 || startScript !== null || registryAuth !== null;
}

type Rule = (wish: SoftwareOutline, able: SoftwareCapabilities, templateId: string) => Misfit | undefined;

const rules: readonly Rule[] = [
  (wish, able) => cant(wish.image !== null && able.image === 'none', 'image', 'runs no image of yours'),
  (wish, able) =>
    cant(isReplaced(wish) && !able.entrypoint, 'entrypoint', 'can’t replace the entrypoint of an image'),
  (wish, able) =>
    cant(wish.hasRegistryAuth && !able.registryAuth, 'registryAuth', 'can’t sign in to a registry'),
  (wish, able) =>
    over('args', isScripted(wish, able) ? 0 : wish.argsChars, able.argsMaxChars, 'characters of arguments'),
  (wish, { envTemplates = [] }, templateId) =>
    cant(
      wish.envNames.length > 0 &&
        wish.image === null &&
        wish.scriptBytes === 0 &&
        envTemplates.every((id) => id !== templateId),
      'env',
      'gives this template no variables: add a start script, which gets them',
    ),
  (wish, able) => over('env', wish.longestEnvChars, able.envValueMaxChars, 'characters in a variable'),
  (wish, able) => over('env', wish.envChars, able.envMaxChars, 'characters of variables in all'),
  (wish, able) =>
    cant(
      wish.scriptBytes > 0 && wish.image === null && !able.startScript,
      'startScript',
      'runs no start script',
    ),
  (wish, able) =>
    cant(
      wish.scriptBytes > 0 && wish.image !== null && !isReplaced(wish) && able.image !== 'none',
      'startScript',
      'runs no start script inside of an image that keeps its entrypoint: replace the entrypoint, or make the script part of the image',
    ),
  (wish, able) =>
    over(
      wish.scriptBytes > 0 ? 'startScript' : 'args',
      isScripted(wish, able) ? wish.scriptBytes + wish.argsChars : 0,
      able.scriptMaxBytes ?? softwareLimits.scriptMaxBytes,
      'bytes of a start script with its arguments',
    ),
  (wish, able) => over('ports', openPorts(wish, 'http'), able.httpPorts, 'public http ports'),
  (wish, able) => over('ports', openPorts(wish, 'tcp'), able.tcpPorts, 'public tcp ports'),
  (wish, able) =>
    cant(
      wish.ports.some((port) => !port.public) && !able.keepsClosed,
      'ports',
      'can’t keep a port closed to the public',
    ),
  (wish, able) => over('diskGb', wish.diskGb ?? 0, able.diskMaxGb, 'GB of disk'),
];

/**
 * Lists what an upstream can't do of a wish, from its declared table alone.
 * @param able undefined: it takes no own software
 * @param templateId what the machine starts
 */
export function misfitsOf(
  wish: SoftwareOutline,
  able: SoftwareCapabilities | undefined,
  templateId: string,
): Misfit[] {
  if (!able) return [cant(true, firstFieldOf(wish), 'takes no software of yours')];
  return rules.map((rule) => rule(wish, able, templateId)).filter((misfit) => misfit !== undefined);
}

/**
 * Lists what of a renter's SSH keys, and of the variables that share their place with them and a start script, is too long
 * for an upstream. What machines fetch takes no place there.
 * @param asked.keysChars absent: not counted, so that the order tells it
 */
export function keyMisfitsOf(
  { software, keysChars = 0 }: AskedKeys,
  able: SoftwareCapabilities | null | undefined,
): Misfit[] {
  const isBesideScript = software !== undefined && software.scriptBytes > 0;
  const { alone = Infinity, besideScript = Infinity } = able?.keysMaxChars ?? {};
  const misfit = isBesideScript
    ? (over('sshKeyIds', keysChars, besideScript, 'characters of SSH keys beside a start script') ??
      over(
        'env',
        exportCharsAt(able, software),
        Math.max(0, besideScript - keysChars + unusedChars(able, software)),
        EXPORTS,
      ))
    : over('sshKeyIds', keysChars, alone, 'characters of SSH keys');
  return misfit ? [misfit] : [];
}

const EXPORTS = 'characters of lines that export variables, beside this start script and these SSH keys';

/** Counts the lines of variables that an upstream takes itself. */
function exportCharsAt(
  able: SoftwareCapabilities | null | undefined,
  { exportChars = 0 }: SoftwareOutline,
): number {
  return able?.handsOverBytes === undefined ? exportChars : 0;
}

/** Counts the place that a script and its arguments leave of what the largest takes. */
function unusedChars(
  able: SoftwareCapabilities | null | undefined,
  { scriptBytes, argsChars }: SoftwareOutline,
): number {
  return base64CharsOf(able?.scriptMaxBytes ?? Infinity) - base64CharsOf(scriptBytes + argsChars);
}

/** What a renter's SSH keys are judged by. */
export interface AskedKeys {
  readonly software?: SoftwareOutline | undefined;
  readonly keysChars?: number | undefined;
}

/** Counts the characters of OpenSSH lines without comments, each with what quotes it and parts it from the next. */
export function keysCharsOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 3, 0);
}

function isReplaced({ image, entrypoint }: SoftwareOutline): boolean {
  return image !== null && entrypoint === 'replace';
}

/**
 * Tells whether a script of ours starts what the renter brings, with its arguments: beside a template, or in the place
 * of an image's entrypoint.
 */
function isScripted(wish: SoftwareOutline, { startScript, entrypoint }: SoftwareCapabilities): boolean {
  if (wish.image === null) return wish.scriptBytes > 0 && startScript;
  return isReplaced(wish) && wish.scriptBytes > 0 && entrypoint === true;
}

/** What an upstream can do whose machines fetch from us what it does not take, or should not have. */
export function fetching(able: SoftwareCapabilities, handsOverBytes: number): SoftwareCapabilities {
  const { scriptMaxBytes, envValueMaxChars, envMaxChars } = softwareLimits;
  return { ...able, scriptMaxBytes, envValueMaxChars, envMaxChars, handsOverBytes };
}

/**
 * Tells whether a machine fetches its start script from us, with its arguments and variables: where those are secrets
 * that should not lie at the upstream, or the upstream does not take so much.
 * @param able undefined: it takes no own software
 */
export function isFetched(software: Software, able: SoftwareCapabilities | undefined): boolean {
  const wish = outlineOf(software, null);
  if (able?.handsOverBytes === undefined || !isScripted(wish, able)) return false;
  return wish.envNames.length > 0 || wish.scriptBytes + wish.argsChars > able.handsOverBytes;
}

/** What an image must have so that a start script of its renter can take the place of its entrypoint anywhere. */
export const imageNeeds = ['sh', 'base64', 'mktemp', 'chmod', 'curl_or_wget'] as const;
export type ImageNeed = (typeof imageNeeds)[number];

/** What an image must have for a wish: words in the place of its entrypoint need nothing of ours. */
export function imageNeedsOf(wish: SoftwareOutline): readonly ImageNeed[] {
  return isReplaced(wish) && wish.scriptBytes > 0 ? imageNeeds : [];
}

/** The names of the ports that everybody on the internet can reach. */
export function publicPortsOf({ ports }: Pick<Software, 'ports'>): string[] {
  return ports.filter((port) => port.public).map(({ name }) => name);
}

function openPorts({ ports }: SoftwareOutline, kind: SoftwarePort['kind']): number {
  return ports.filter((port) => port.public && port.kind === kind).length;
}

function cant(isSo: true, field: Misfit['field'], message: string): Misfit;
function cant(isSo: boolean, field: Misfit['field'], message: string): Misfit | undefined;
function cant(isSo: boolean, field: Misfit['field'], message: string): Misfit | undefined {
  return isSo ? { field, limit: null, message } : undefined;
}

function over(field: Misfit['field'], asked: number, most: number, what: string): Misfit | undefined {
  if (asked <= most) return undefined;
  return { field, limit: most, message: most === 0 ? `takes no ${what}` : `takes at most ${most} ${what}` };
}

/** The field to name where nothing of a wish can be done. */
function firstFieldOf(wish: SoftwareOutline): Misfit['field'] {
  if (wish.image !== null) return 'image';
  if (wish.scriptBytes > 0) return 'startScript';
  if (wish.envNames.length > 0) return 'env';
  return wish.ports.length > 0 ? 'ports' : 'diskGb';
}
