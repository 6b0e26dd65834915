import type { AddCommand } from '../../command.js';
import { addClose, addClosing } from './close.js';
import { addAccountExport } from './export.js';

/** gpu account */
export const addAccount: AddCommand = (program, act) => {
  const account = program
    .command('account')
    .summary('take your data with you, close your account')
    .description('Your account as a whole.');
  addAccountExport(account, act);
  addClosing(account, act);
  addClose(account, act);
};
