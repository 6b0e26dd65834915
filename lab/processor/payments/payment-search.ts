import { invalidRequest } from '../http/errors.js';
import type { Call } from '../http/endpoint.js';

/**
 * Answers a search in the processor's query language (docs.stripe.com/search): clauses such as
 * `metadata['topup_id']:'top_1'`, `status:'succeeded'` or `amount>100`, joined by AND or by OR, not by both. At the
 * processor an object may take a minute to be found; here it is found at once.
 */
export function search(call: Call, table: 'payment_intents' | 'charges' | 'customers'): object {
  const { params, world, path } = call;
  const matches = parse(params.requiredString('query'));
  const limit = params.integer('limit', 1, 100) ?? 10;
  const start = params.integer('page', 0, Number.MAX_SAFE_INTEGER) ?? 0;
  const found = world.store.list(table).filter((row) => matches(row as unknown as Record<string, unknown>));
  const newestFirst = found.reverse();
  const hasMore = newestFirst.length > start + limit;
  return {
    object: 'search_result',
    data: newestFirst.slice(start, start + limit),
    has_more: hasMore,
    next_page: hasMore ? String(start + limit) : null,
    url: path,
  };
}

type Test = (row: Record<string, unknown>) => boolean;

const clausePattern =
  /^(-?)(?:metadata\[(?:"([^"]+)"|'([^']+)')\]|([a-z_]+))\s*(:|=|>=|<=|>|<)\s*(?:"([^"]*)"|'([^']*)'|(\d+)|(null))$/;

function parse(query: string): Test {
  const parts = query.trim().split(/\s+(AND|OR)\s+/i);
  const clauses = parts.filter((_, position) => position % 2 === 0).map(clause);
  const joins = new Set(parts.filter((_, position) => position % 2 === 1).map((word) => word.toUpperCase()));
  if (joins.size > 1) {
    throw invalidRequest('Join the clauses of a query by AND or by OR, not by both.', { param: 'query' });
  }
  return joins.has('OR')
    ? (row) => clauses.some((test) => test(row))
    : (row) => clauses.every((test) => test(row));
}

function clause(text: string): Test {
  const match = clausePattern.exec(text);
  if (match === null) {
    throw invalidRequest(
      `The clause ${text} is not understood. Write field:'value' or metadata['key']:'value'.`,
      {
        param: 'query',
      },
    );
  }
  const [, negation, doubleKey, singleKey, field = '', operator = ':', double, single, number] = match;
  const key = doubleKey ?? singleKey;
  const wanted = double ?? single ?? number;
  return (row) => {
    const holder = key === undefined ? row : (row['metadata'] as Record<string, unknown>);
    return compare(holder[key ?? field], operator, wanted) !== (negation === '-');
  };
}

function compare(value: unknown, operator: string, wanted: string | undefined): boolean {
  if (wanted === undefined) return value === null || value === undefined;
  if (operator === ':' || operator === '=') return String(value) === wanted;
  if (typeof value !== 'number') return false;
  const bound = Number(wanted);
  if (operator === '>') return value > bound;
  if (operator === '>=') return value >= bound;
  return operator === '<' ? value < bound : value <= bound;
}
