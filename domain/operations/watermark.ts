/** The message of every refusal by a restored database. */
export const restoredMessage =
  'The database was restored and is behind what the service has done: money, machines and mails are stopped. ' +
  'Run "npm run ops -- restore status", then "npm run ops -- restore reconcile".';

/** The message while another server's timeline waits for the processes that saw commits acknowledged. */
export const unprovenMessage =
  'The database has another timeline, and not every process has said yet that it holds what it saw committed.';
