import type { TemplateContainer } from './offers/templates.js';

/** Marks the keys that the script has already put there, so that a second run changes nothing. */
const MARK = '# renter keys';

/**
 * Makes the script that a pod runs once when it is up: it puts the renter's keys beside the throw-away key, and starts
 * the template's container. The login user's name differs between clouds and the script may run as root, so the right
 * authorized_keys is the one in which the upstream put the throw-away key. Foreign text goes in as base64, which needs
 * no quoting.
 * @param input.publicKeys bare `type base64` lines
 */
export function startupScript(input: {
  readonly throwAwayKey: string;
  readonly publicKeys: readonly string[];
  readonly container: TemplateContainer | null;
}): string {
  const lines = ['#!/bin/bash', '# Prepares a rented machine; runs once after boot.'];
  if (input.publicKeys.length > 0) {
    const block = `${MARK}\n${input.publicKeys.join('\n')}`;
    lines.push(
      `keys=$(printf %s '${base64(block)}' | base64 -d)`,
      `marker=$(printf %s '${base64(input.throwAwayKey)}' | base64 -d)`,
      'for home in "${HOME:-/root}" /root /home/*; do',
      '  file="$home/.ssh/authorized_keys"',
      '  grep -qsF "$marker" "$file" || continue',
      `  grep -qsF '${MARK}' "$file" && continue`,
      `  printf '\\n%s\\n' "$keys" >> "$file"`,
      'done',
    );
  }
  if (input.container !== null) lines.push(...containerLines(input.container));
  return `${lines.join('\n')}\n`;
}

function containerLines(container: TemplateContainer): string[] {
  const words = ['docker', 'run', '-d', '--name', 'template', '--restart', 'unless-stopped', '--gpus', 'all'];
  words.push('--ipc=host');
  if (container.port !== null) words.push('-p', `127.0.0.1:${container.port}:${container.port}`);
  for (const [name, value] of Object.entries(container.env)) words.push('-e', `${name}=${value}`);
  words.push(container.image, ...container.command);
  return [words.map(quoted).join(' ')];
}

function quoted(word: string): string {
  return /^[A-Za-z0-9@%+=:,./_-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
