import type { AddCommand } from '../../command.js';
import { addAccountExport } from './export.js';

/** gpu account */
export const addAccount: AddCommand = (program, act) => {
  const account = program
    .command('account')
    .summary('take your data with you')
    .description('What concerns your account as a whole.');
  addAccountExport(account, act);
};
