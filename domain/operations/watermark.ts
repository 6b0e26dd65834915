/**
 * The watermark is raised each minute in the database and kept in Temporal as well: a database below Temporal's was
 * restored (decision 37). Temporal keeps it in the memo of one workflow, which can be read without any worker.
 */
export const watermarkWorkflow = 'watermark';

/** Its only instance. */
export const watermarkWorkflowId = 'watermark';

/** Tells it that the watermark was raised to a value. */
export const watermarkSignalName = 'raised';

/** The field of its memo. */
export const watermarkMemo = 'watermark';

/** What is told wherever a restored database refuses. */
export const restoredMessage =
  'The database was restored and is behind what the service has done: money, machines and mails are stopped. ' +
  'Run "npm run ops -- restore status", then "npm run ops -- restore reconcile".';
