import { exportMail, loginCodeMail, proofCodeMail } from '../../../domain/mails/sign-in.js';
import { isWhole, type Whole } from './whole.js';

const mails: readonly Whole[] = [
  [
    'brings a code',
    loginCodeMail({ code: '123456', provider: undefined }),
    'Your sign-in code',
    [
      'Your sign-in code is 123456.',
      '',
      'It works once, within 10 minutes.',
      'If you did not ask for it, ignore this email: nobody can sign in without the code.',
    ],
  ],
  [
    'brings a code that links an account',
    loginCodeMail({ code: '123456', provider: 'GitHub' }),
    'Your sign-in code',
    [
      'Your sign-in code is 123456.',
      '',
      'It confirms that you signed in with GitHub. Next time, you can sign in with GitHub without a code.',
      'It works once, within 10 minutes.',
      'If you did not ask for it, ignore this email: nobody can sign in without the code.',
    ],
  ],
  [
    'brings a code that shows anew whose a session is',
    proofCodeMail({ code: '123456', device: 'Firefox on Linux' }),
    'Your confirmation code',
    [
      'Your confirmation code is 123456.',
      '',
      'It was requested where you are signed in (Firefox on Linux), and confirms that it is you. For 15 minutes, that session can create keys, passkeys and webhooks, raise limits, export your data, or close the account.',
      'It works once, only there, within 10 minutes. Do not share it.',
      'If you did not ask for it, somebody else is signed in to your account: sign in, open Sessions, and end each one that is not yours.',
    ],
  ],
  [
    'brings such a code to a device of which nothing is known',
    proofCodeMail({ code: '123456', device: null }),
    'Your confirmation code',
    [
      'Your confirmation code is 123456.',
      '',
      'It was requested where you are signed in, and confirms that it is you. For 15 minutes, that session can create keys, passkeys and webhooks, raise limits, export your data, or close the account.',
      'It works once, only there, within 10 minutes. Do not share it.',
      'If you did not ask for it, somebody else is signed in to your account: sign in, open Sessions, and end each one that is not yours.',
    ],
  ],
  [
    'tells that everything was taken along',
    exportMail(),
    'Your data was exported',
    [
      'Somebody who is signed in to your account downloaded everything we hold about you, such as your rentals, payments and emails. No private or API keys are in it.',
      '',
      'If it was you, there is nothing to do. If not, sign in, open Sessions, and end each one that is not yours.',
      '',
      'If you did not expect this, contact support.',
    ],
  ],
];

describe('mails about signing in', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
