import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A mail as it arrived. */
export interface Mail {
  readonly id: string;
  /** ISO 8601 UTC. */
  readonly receivedAt: string;
  readonly from: string;
  /** The addresses of the envelope, lower-case: the mail's real receivers. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** null when it has no HTML part. */
  readonly html: string | null;
  /** The headers by which mail programs offer to switch such mails off (RFC 2369, RFC 8058); null when there is none. */
  readonly listUnsubscribe: string | null;
  readonly listUnsubscribePost: string | null;
  readonly attachments: readonly { readonly filename: string; readonly sizeBytes: number }[];
}

/** The last mails, newest first. */
export interface MailStore {
  /** Keeps a mail. It is on disk once this resolves. */
  add(mail: Mail): Promise<void>;
  /** @param to only mails to this address, in any case */
  list(to?: string): readonly Mail[];
  find(id: string): Mail | undefined;
  /** @returns how many were removed */
  clear(): Promise<number>;
}

const keptMails = 1000;
/** The file is rewritten when it holds this many lines, so that each mail costs one append on average. */
const maxLines = 2 * keptMails;

/**
 * Opens the store of received mails.
 * @param dataDir holds `mails.jsonl`, one mail a line; null keeps them in memory only
 */
export async function openMailStore(dataDir: string | null): Promise<MailStore> {
  const file = dataDir === null ? null : join(dataDir, 'mails.jsonl');
  if (dataDir !== null) await mkdir(dataDir, { recursive: true });
  const { mails, whole } = file === null ? { mails: [], whole: true } : await readMails(file);
  // A line that was cut short must not swallow the next one: the next mail then rewrites the file.
  const state = { lines: whole ? mails.length : maxLines, writing: Promise.resolve() };

  /** Runs one writer at a time: otherwise a rewrite could lose a mail that is being appended. */
  const inTurn = (write: () => Promise<void>): Promise<void> => {
    const turn = state.writing.then(write);
    state.writing = turn.catch(() => undefined);
    return turn;
  };
  const write = async (target: string, mail: Mail) => {
    if (state.lines < maxLines) {
      await appendFile(target, toLine(mail));
      state.lines += 1;
      return;
    }
    // Later mails wait for their own turn to be written.
    const kept = mails.slice(0, mails.indexOf(mail) + 1);
    await writeFile(`${target}.new`, kept.map(toLine).join(''));
    await rename(`${target}.new`, target);
    state.lines = kept.length;
  };
  return {
    async add(mail) {
      mails.push(mail);
      if (mails.length > keptMails) mails.shift();
      if (file !== null) await inTurn(() => write(file, mail));
    },
    list(to) {
      const wanted = to?.trim().toLowerCase();
      return mails.filter((mail) => wanted === undefined || mail.to.includes(wanted)).reverse();
    },
    find: (id) => mails.find((mail) => mail.id === id),
    async clear() {
      const removed = mails.splice(0).length;
      if (file !== null) {
        await inTurn(async () => {
          await rm(file, { force: true });
          state.lines = 0;
        });
      }
      return removed;
    },
  };
}

function toLine(mail: Mail): string {
  return `${JSON.stringify(mail)}\n`;
}

async function readMails(file: string): Promise<{ mails: Mail[]; whole: boolean }> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = text.split('\n').filter((line) => line !== '');
  return { mails: lines.flatMap(parseLine).slice(-keptMails), whole: text === '' || text.endsWith('\n') };
}

/** A line that a crash cut short is a mail that was never acknowledged; its sender sends it again. */
function parseLine(line: string): Mail[] {
  try {
    return [JSON.parse(line) as Mail];
  } catch {
    return [];
  }
}
