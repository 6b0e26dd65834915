/** The roles of the database: one for each process, and one for the operators' command line. */
export const databaseRoles = {
  api: 'gpu_rental_api',
  worker: 'gpu_rental_worker',
  ops: 'gpu_rental_ops',
  /** Signs the roots of the ledger's proof. */
  signer: 'gpu_rental_signer',
  /** The listener that machines call. */
  machine: 'gpu_rental_machine',
} as const;

export type DatabaseRole = keyof typeof databaseRoles;
