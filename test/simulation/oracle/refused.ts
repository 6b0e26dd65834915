import { told, type Judge } from './evidence.js';

/**
 * Failures that pass (decision 124, "Failures that pass"), and what follows from them: a connection that was lost (08,
 * 57), others first (40, 55P03), limits of time, no room (53), a standby, a transaction that has failed already (25P02).
 */
const PASSING = /^(08|40|53|57|55P03|25006|25P0[234])/;
/** What the server says, and not the network. */
const SQL_STATE = /^(?=.*[0-9])[0-9A-Z]{5}$/;
/** An event holds what its sender says: forged ones also hold what the database can't. */
const FOREIGN = 'with fresh as ( insert into processor_events';

/**
 * The constraints of the schema are the last net, not a way to decide: whoever relies on them has read without a lock. A
 * statement that they or its own words refuse is a defect, even where a later try mends it.
 */
export const judgeRefused: Judge = ({ refused }) =>
  Promise.resolve(
    refused.flatMap(({ sql, state, message }) => {
      const isDefect = SQL_STATE.test(state) && !PASSING.test(state) && !sql.startsWith(FOREIGN);
      return told(isDefect, `the database refused (${state}, ${message}): ${sql}`);
    }),
  );
