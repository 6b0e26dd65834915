import { loginCodeMail, proofCodeMail } from '../../../domain/mails/sign-in.js';
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
  [
    'brings a code that shows anew whose a session is',
    proofCodeMail({ code: '123456', device: 'Firefox on Linux' }),
    'Your confirmation code',
    [
      'Your confirmation code is 123456.',
      '',
      'It was asked for where you are signed in (Firefox on Linux), to make an API key or a webhook, or to raise a limit.',
      'It is valid for 10 minutes, works there alone, and can be used once. Give it to nobody.',
      'If you did not ask for it, somebody else is signed in to your account: sign in, look at where you are signed in, and end what you do not know.',
    ],
  ],
  [
    'brings such a code to a device of which nothing is known',
    proofCodeMail({ code: '123456', device: null }),
    'Your confirmation code',
    [
      'Your confirmation code is 123456.',
      '',
      'It was asked for where you are signed in, to make an API key or a webhook, or to raise a limit.',
      'It is valid for 10 minutes, works there alone, and can be used once. Give it to nobody.',
      'If you did not ask for it, somebody else is signed in to your account: sign in, look at where you are signed in, and end what you do not know.',
    ],
  ],
];

describe('mails about signing in', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
