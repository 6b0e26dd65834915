/** The message of every refusal by a restored database. */
export const restoredMessage =
  'The database was restored and is behind what the service has done: money, machines and mails are stopped. ' +
  'Run "npm run ops -- restore status", then "npm run ops -- restore reconcile".';
