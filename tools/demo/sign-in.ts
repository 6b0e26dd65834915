import { request } from './request.js';
import { tell, waitFor, type Stage } from './stage.js';

interface Mail {
  readonly id: string;
  readonly text: string;
}

/** Asks for a code, reads it from the mail that arrives, and starts a session with it. */
export async function signIn(stage: Stage): Promise<void> {
  const earlier = new Set((await listMails(stage)).map(({ id }) => id));
  await stage.api.post('/v1/auth/request-code', { email: stage.email });
  const code = await waitFor(
    stage,
    {
      what: `code for ${stage.email} in the inbox at ${stage.urls.mail}`,
      limitMs: 30_000,
      everyMs: 200,
      advice: "The worker sends the mails: see its log and the workflow 'mailer' in the Temporal UI.",
    },
    async () => findCode((await listMails(stage)).filter(({ id }) => !earlier.has(id))),
  );
  await stage.api.post('/v1/auth/verify-code', { email: stage.email, code });
  tell(stage, `${stage.email} signed in with the code ${code}`);
}

function findCode(mails: readonly Mail[]): string | undefined {
  return mails.map((mail) => /\b\d{6}\b/.exec(mail.text)?.[0]).find((code) => code !== undefined);
}

async function listMails(stage: Stage): Promise<readonly Mail[]> {
  const response = await request(`${stage.urls.mail}/mails?to=${encodeURIComponent(stage.email)}`);
  return ((await response.json()) as { mails: Mail[] }).mails;
}
