/**
 * SQL: whether no more is kept of an event than its ids, because no workflow reads more of it: cardholders and payers are
 * not ours to keep. SQL of its kind, and of its workflow, null where nobody acts on it.
 */
export function isBareSql(kind: string, workflowId: string): string {
  return `(${workflowId} is null or starts_with(${kind}, 'payment_method.'))`;
}

/** SQL: what is kept of the object of such an event: the ids that it is found by, and why a card was declined. */
export function idsOfEventSql(object: string): string {
  const text = (key: string) =>
    `'${key}', case when jsonb_typeof(${object} -> '${key}') = 'string' then ${object} -> '${key}' end`;
  const problem = (key: string) =>
    `'${key}', nullif(jsonb_strip_nulls(jsonb_build_object('code', ${object} #> '{${key},code}',
       'decline_code', ${object} #> '{${key},decline_code}')), '{}')`;
  return `jsonb_strip_nulls(jsonb_build_object(
    'id', case when ${object} ->> 'object' <> 'customer' then ${object} -> 'id' end,
    'object', ${object} -> 'object', 'metadata', ${object} -> 'metadata',
    ${text('charge')}, ${text('payment_intent')}, ${problem('last_payment_error')}, ${problem('last_setup_error')}))`;
}
