import { causePrefixes, reversalReturned } from '../../../domain/cause-prefixes.js';

/**
 * Causes of ledger entries in SQL, for statements that walk many rows: the texts that `causeOf` makes. Parameters are
 * SQL expressions. A join by a cause compares for equality, so that it uses the primary key of ledger_causes.
 */
export const paymentCauseSql = (paymentId: string): string => `'${causePrefixes.payment}' || ${paymentId}`;

export const settlementCauseSql = (rentalId: string): string =>
  `'${causePrefixes.settlement}' || ${rentalId}`;

export const operationRentalCauseSql = (operationId: string, rentalId: string): string =>
  `'${causePrefixes.operation}' || ${operationId} || ':' || ${rentalId}`;

/**
 * All causes of a reversal, as an array: taken, given back, and taken again when another one gave its part back. The
 * first round has a number where it took nothing, because nothing was left of the payment.
 */
export const reversalCausesSql = (kind: string, id: string): string =>
  `(array[${kind} || ':' || ${id}, ${kind} || '${reversalReturned}' || ${id}]
      || array(select ${kind} || ':' || ${id} || ':' || n from generate_series(1, 20) n))`;

/** The payment that a cause names; null for a cause of another kind. */
export const paymentOfCauseSql = (cause: string): string =>
  `case when starts_with(${cause}, '${causePrefixes.payment}')
        then substr(${cause}, length('${causePrefixes.payment}') + 1) end`;

/** SQL that holds for a cause of one rental in an order of many. */
export const isOperationRentalSql = (cause: string): string =>
  `(starts_with(${cause}, '${causePrefixes.operation}') and starts_with(split_part(${cause}, ':', 3), 'rent_'))`;
