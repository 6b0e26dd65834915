import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { tableNames, type TableName, type Tables } from './tables.js';

type Row = { readonly id: string };
type Change = readonly [table: TableName, id: string, row: Row | null];

/**
 * The simulator's memory with a journal on disk. One line of the journal is the whole effect of one request, so a
 * process that is killed while it writes leaves either all of it or nothing: a torn last line is dropped when the file
 * is read again. Each start rewrites the file in full, by an atomic rename.
 */
export class Store {
  readonly #file: string | null;
  readonly #tables = new Map<TableName, Map<string, Row>>(tableNames.map((name) => [name, new Map()]));
  #changes: Change[] | null = null;
  #undo: (() => void)[] = [];

  /**
   * @param dataDir made when missing; holds `processor.jsonl`. null: the state is kept in memory alone
   * @param warn gets a message about a half-written line
   */
  constructor(dataDir: string | null, warn: (message: string) => void = console.warn) {
    this.#file = dataDir === null ? null : path.join(dataDir, 'processor.jsonl');
    if (dataDir === null || this.#file === null) return;
    mkdirSync(dataDir, { recursive: true });
    this.#load(this.#file, warn);
    this.#compact(this.#file);
  }

  find<T extends TableName>(table: T, id: string): Tables[T] | undefined {
    return this.#rows(table).get(id);
  }

  /** In the order of their creation. */
  list<T extends TableName>(table: T): Tables[T][] {
    return [...this.#rows(table).values()];
  }

  /** Inserts or replaces; rows are never changed in place. Only inside `transact`. */
  put<T extends TableName>(table: T, row: Tables[T]): Tables[T] {
    this.#change(table, row.id, row);
    return row;
  }

  remove(table: TableName, id: string): void {
    this.#change(table, id, null);
  }

  /** Runs one request's work. Its changes reach the journal as one line; when it throws, none of them stay. */
  transact<T>(work: () => T): T {
    if (this.#changes !== null)
      throw new Error('a transaction is open already: work may not be asynchronous');
    this.#changes = [];
    this.#undo = [];
    let done = false;
    try {
      const result = work();
      done = true;
      return result;
    } finally {
      const changes = this.#changes;
      this.#changes = null;
      if (!done) for (const revert of this.#undo.reverse()) revert();
      else if (changes.length > 0 && this.#file !== null)
        appendFileSync(this.#file, `${JSON.stringify(changes)}\n`);
    }
  }

  #rows<T extends TableName>(table: T): Map<string, Tables[T]> {
    return this.#tables.get(table) as unknown as Map<string, Tables[T]>;
  }

  #change(table: TableName, id: string, row: Row | null): void {
    if (this.#changes === null) throw new Error(`change of ${table} outside a transaction`);
    const before: Row | undefined = this.#rows(table).get(id);
    this.#undo.push(() => this.#apply([table, id, before ?? null]));
    this.#changes.push([table, id, row]);
    this.#apply([table, id, row]);
  }

  #apply([table, id, row]: Change): void {
    const rows = this.#tables.get(table);
    // A journal written by a later version may name tables that this one does not have.
    if (rows === undefined) return;
    if (row === null) rows.delete(id);
    else rows.set(id, row);
  }

  #load(from: string, warn: (message: string) => void): void {
    if (!existsSync(from)) return;
    const lines = readFileSync(from, 'utf8').split('\n');
    const torn = lines.pop();
    if (torn !== undefined && torn !== '') {
      warn(`lab processor: the last, half-written line of ${from} is left out`);
    }
    for (const line of lines) for (const change of JSON.parse(line) as Change[]) this.#apply(change);
  }

  #compact(into: string): void {
    const temporary = `${into}.new`;
    const file = openSync(temporary, 'w', 0o600);
    try {
      for (const table of tableNames) {
        for (const row of this.list(table))
          writeFileSync(file, `${JSON.stringify([[table, row.id, row]])}\n`);
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, into);
  }
}
