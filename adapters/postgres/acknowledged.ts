/** A commit that this process saw acknowledged, and where the server's log stood just before it. */
interface Acknowledged {
  readonly xid: string;
  readonly position: string;
  /** The timeline of that log, as the names of its files begin. */
  readonly timeline: string;
}

/** Reads what names a transaction, before it commits; null where it has written nothing. */
export const namedCommit = `select pg_current_xact_id_if_assigned()::text as xid, pg_current_wal_insert_lsn()::text as position, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline; COMMIT`;

/** Tells whether a statement commits, as knex sends it and as `namedCommit` does. */
export function isCommit(sql: string): boolean {
  return /(^|;)\s*commit\b/i.test(sql);
}

/**
 * More than all connections of a process may have under way: a commit that is older than so many others was
 * acknowledged before they began, and whoever holds them holds it. That is so within one timeline: what is written after
 * a failover says nothing of what was written before it.
 */
const kept = 512;
/** So many timelines are kept, the newest. */
const timelinesKept = 4;

/** By the address without its login: the pools of a process are one witness. */
const recent = new Map<string, Map<string, Acknowledged[]>>();

/** The commits of this process at one address that nobody else may know of, kept outside of PostgreSQL. */
export function acknowledgedAt(url: string): {
  /** Takes what knex has made of `namedCommit`, or of any other statement, and returns it. */
  note(answer: unknown): unknown;
  list(): readonly Acknowledged[];
} {
  const key = url.replace(/^[^@]*@/, '');
  const byTimeline = recent.get(key) ?? new Map<string, Acknowledged[]>();
  recent.set(key, byTimeline);
  const keep = (commit: Acknowledged): void => {
    const list = byTimeline.get(commit.timeline) ?? [];
    byTimeline.set(commit.timeline, list);
    list.push(commit);
    if (list.length > kept) list.shift();
    const [oldest = ''] = byTimeline.keys();
    if (byTimeline.size > timelinesKept) byTimeline.delete(oldest);
  };
  return {
    note(answer) {
      const { response } = (answer ?? {}) as { response?: { rows?: Partial<Acknowledged>[] }[] };
      const { xid, position, timeline } = response?.[0]?.rows?.[0] ?? {};
      if (typeof xid === 'string' && position !== undefined && timeline !== undefined)
        keep({ xid, position, timeline });
      return answer;
    },
    list: () => [...byTimeline.values()].flat(),
  };
}
