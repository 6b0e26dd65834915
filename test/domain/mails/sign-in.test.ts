import { loginCodeMail } from '../../../domain/mails/sign-in.js';
import { isWhole, type Whole } from './whole.js';

const mails: readonly Whole[] = [
  [
    'brings a code',
    loginCodeMail({ code: '123456', provider: undefined }),
    'Your sign-in code',
    [
      'Your sign-in code is 123456.',
      '',
      'It is valid for 10 minutes and can be used once.',
      'If you did not ask for it, you can ignore this mail: nobody can sign in without the code.',
    ],
  ],
  [
    'brings a code that links an account',
    loginCodeMail({ code: '123456', provider: 'GitHub' }),
    'Your sign-in code',
    [
      'Your sign-in code is 123456.',
      '',
      'It confirms that a sign-in with GitHub was yours: from then on that account signs in here without a code.',
      'It is valid for 10 minutes and can be used once.',
      'If you did not ask for it, you can ignore this mail: nobody can sign in without the code.',
    ],
  ],
];

describe('mails about signing in', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
