import type { Software, SoftwareCapabilities } from '../../domain/rentals/software.js';
import { decodedWords, exportLine, shellWords } from '../../domain/rentals/start-command.js';
import type { TemplateContainer } from './offers/templates.js';
import { proofLines, type ReportTarget } from './proof-script.js';
import { reporterLines } from './reporter-script.js';

/** The name of the one container of a machine. */
const NAME = 'template';
/** Marks the keys that the script has already put there, so that a second run changes nothing. */
const MARK = '# renter keys';

/** What a machine is prepared with. */
export interface Preparation {
  readonly throwAwayKey: string;
  /** Bare `type base64` lines. */
  readonly publicKeys: readonly string[];
  /** The template's, or that of the renter's image. */
  readonly container: TemplateContainer | null;
  readonly software?: Software | undefined;
  /** Lines that fetch the renter's own script, or what starts it in their image, and run it, in its place. */
  readonly bootstrap?: readonly string[] | undefined;
  /** Where the machine tells how its GPUs are, before anything else; absent: nowhere. */
  readonly report?: ReportTarget | undefined;
  /** Where the machine tells how much it is used, as long as it runs; absent: nowhere. */
  readonly reporter?: ReportTarget | undefined;
}

/**
 * Makes the script that a pod runs once when it is up: it puts the renter's keys beside the throw-away key, starts the
 * container, and runs the renter's own script last. The login user's name differs between clouds and the script may run
 * as root, so the right authorized_keys is the one in which the upstream put the throw-away key. Foreign text goes in as
 * base64, which needs no quoting.
 */
export function startupScript(preparation: Preparation): string {
  const { throwAwayKey, publicKeys, software } = preparation;
  const own = software?.image === null ? software : undefined;
  return [
    '#!/bin/bash',
    '# Prepares a rented machine; runs once after boot.',
    ...tellingLines(preparation),
    ...(publicKeys.length === 0 ? [] : keyLines(throwAwayKey, publicKeys)),
    ...(own && own.ports.length > 0 ? firewallLines(own) : []),
    ...softwareLines(preparation),
    '',
  ].join('\n');
}

/** Starts the container, and the renter's own script beside it. What is fetched for their image starts that, too. */
function softwareLines({ container, software, bootstrap }: Preparation): readonly string[] {
  const isImage = software !== undefined && software.image !== null;
  if (isImage && bootstrap) return bootstrap;
  const started = container === null ? [] : containerLines(container, software);
  if (!software || isImage) return started;
  return [...started, ...(bootstrap ?? ownScriptLines(software))];
}

function tellingLines({ report, reporter }: Preparation): string[] {
  return [...(report ? proofLines(report) : []), ...(reporter ? reporterLines(reporter) : [])];
}

function keyLines(throwAwayKey: string, publicKeys: readonly string[]): string[] {
  const block = `${MARK}\n${publicKeys.join('\n')}`;
  return [
    `keys=$(${decoded(block)})`,
    `marker=$(${decoded(throwAwayKey)})`,
    'for home in "${HOME:-/root}" /root /home/*; do',
    '  file="$home/.ssh/authorized_keys"',
    '  grep -qsF "$marker" "$file" || continue',
    `  grep -qsF '${MARK}' "$file" && continue`,
    `  printf '\\n%s\\n' "$keys" >> "$file"`,
    'done',
  ];
}

/** On a machine itself a port is closed by its firewall; a script that would listen openly does not run without one. */
function firewallLines({ ports }: Software): string[] {
  return [
    '[ "$(id -u)" = 0 ] && root= || root=sudo',
    "ssh=$($root sshd -T 2>/dev/null | awk '/^port /{print $2; exit}')",
    '$root ufw default deny incoming && $root ufw allow "${ssh:-22}/tcp" || exit 1',
    ...ports.filter((port) => port.public).map(({ port }) => `$root ufw allow ${port}/tcp`),
    '$root ufw --force enable || exit 1',
  ];
}

/**
 * What a machine fetches in place of the renter's own script: the same, as a file that removes itself.
 * @param runs what runs an image there: with `container` the script goes into one
 */
export function fetchedScript(software: Software, runs: SoftwareCapabilities['image'] = 'machine'): string {
  const container = runs === 'container' ? ownContainerOf(software) : null;
  const lines = container === null ? ownScriptLines(software) : containerLines(container, software);
  return ['#!/bin/sh', 'rm -f "$0"', ...lines, ''].join('\n');
}

/**
 * Makes the lines of sh that run the renter's own script, if there is one. It may serve for as long as
 * the machine runs.
 */
export function ownScriptLines({ env, startScript, args }: Software): string[] {
  if (startScript === null) return [];
  const exported = Object.entries(env).map(([name, value]) => exportLine(name, base64Of(value)));
  return [
    ...exported,
    'script=$(mktemp)',
    `${decoded(startScript)} > "$script"`,
    'chmod 700 "$script"',
    `exec "$script" ${shellWords(args)}`.trimEnd(),
  ];
}

/** Where a start script is inside of the container of an image. */
const SCRIPT_INSIDE = '/start-script';

/** The container of the renter's own image; null where they have none. */
export function ownContainerOf({
  image,
  entrypoint,
  startScript,
  args,
  env,
  ports,
}: Software): TemplateContainer | null {
  if (image === null) return null;
  if (entrypoint === 'keep') return { image, command: args, env, ports };
  const runsScript = ['sh', '-c', `exec ${SCRIPT_INSIDE} "$@"`, 'sh', ...args];
  const [first = 'sh', ...command] = startScript === null ? args : runsScript;
  return { image, entrypoint: first, command, env, ports };
}

function containerLines(container: TemplateContainer, software: Software | undefined): string[] {
  const { registryAuth = null } = software ?? {};
  const startScript = software?.image ? software.startScript : null;
  const made = shellWords(wordsOf(container, startScript === null ? ['run', '-d'] : ['create']));
  const lines = startScript === null ? [made] : [made, ...scriptedLines(startScript)];
  if (registryAuth === null) return lines;
  const registry = registryOf(container.image);
  const signIn = ['docker', 'login', '-u', registryAuth.username, '--password-stdin', ...registry];
  const signOut = ['docker', 'logout', ...registry];
  return [`${decoded(registryAuth.password)} | ${shellWords(signIn)}`, ...lines, shellWords(signOut)];
}

function wordsOf(
  { image, entrypoint, command, ports, env }: TemplateContainer,
  how: readonly string[],
): string[] {
  const words = ['docker', ...how, '--name', NAME, '--restart', 'unless-stopped', '--gpus', 'all'];
  words.push('--ipc=host');
  for (const port of ports) words.push('-p', `${port.public ? '' : '127.0.0.1:'}${port.port}:${port.port}`);
  for (const [name, value] of Object.entries(env)) words.push('-e', `${name}=${value}`);
  if (entrypoint !== undefined) words.push('--entrypoint', entrypoint);
  return [...words, image, ...command];
}

/** Starts a container that was made, with the renter's script in it: as part of it, the script is there after a restart. */
function scriptedLines(startScript: string): string[] {
  return [
    'script=$(mktemp)',
    `${decoded(startScript)} > "$script"`,
    'chmod 755 "$script"',
    `docker cp "$script" ${NAME}:${SCRIPT_INSIDE} && docker start ${NAME}`,
    'rm -f "$script"',
  ];
}

/** The registry that an image's name begins with; none for Docker Hub's. */
function registryOf(image: string): string[] {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? [first] : [];
}

function decoded(text: string): string {
  return decodedWords(base64Of(text));
}

function base64Of(text: string): string {
  return Buffer.from(text).toString('base64');
}
