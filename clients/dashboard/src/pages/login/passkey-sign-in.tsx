import { useEffect, useRef } from 'react';
import { beginSignIn, useSignInByPasskey } from '../../data/passkeys.js';
import { knowsPasskeys, suggestPasskeys, type ShownPasskey } from '../../data/webauthn.js';
import { tellTabs } from '../../live/channel.js';
import { passkeyTexts as t } from '../../texts/passkeys.js';
import { Button } from '../../ui/button.js';
import { SignInError } from './sign-in-error.js';

/** Signs in by a passkey: by its button, or by one that the browser suggests at the field of the address. */
export function PasskeySignIn({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const signIn = useSignInByPasskey();
  const { mutate } = signIn;
  const suggesting = useRef<AbortController>(undefined);
  const show = (suggested?: ShownPasskey): void => {
    // A browser asks for one passkey at a time.
    suggesting.current?.abort();
    mutate(suggested, {
      onSuccess: ({ user }) => {
        tellTabs(user.id, 'signed-in');
        onSignedIn();
      },
    });
  };
  const latest = useRef(show);
  useEffect(() => {
    latest.current = show;
  });
  useEffect(() => {
    const ended = new AbortController();
    suggesting.current = ended;
    void suggestPasskeys(beginSignIn, ended.signal).then((suggested) => {
      if (suggested && !ended.signal.aborted) latest.current(suggested);
    });
    return () => ended.abort();
  }, []);
  if (!knowsPasskeys()) return null;
  return (
    <>
      {signIn.isError && <SignInError title={t.notSignedIn} error={signIn.error} />}
      <Button isBusy={signIn.isPending} onClick={() => show()}>
        {t.signIn}
      </Button>
    </>
  );
}
