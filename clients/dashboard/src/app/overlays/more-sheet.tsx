import { useSuspenseQuery } from '@tanstack/react-query';
import { meQuery } from '../../data/account.js';
import { shellTexts } from '../../texts/shell.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SignOutIcon } from '../../ui/icons.js';
import { PageLinks } from '../page-links.js';
import { useSignOut } from '../sign-out.js';
import { ThemeControl } from '../theme-control.js';

/** All pages, for narrow screens, with what the sidebar has besides. */
export function MoreSheet({ onClose }: { readonly onClose: () => void }) {
  const { data } = useSuspenseQuery(meQuery);
  const { signOut, isBusy } = useSignOut();
  return (
    <Dialog isOpen onClose={onClose} title={shellTexts.navigation}>
      <nav aria-label={shellTexts.more} className="-mx-2">
        <PageLinks onLeave={onClose} />
      </nav>
      <div className="flex flex-wrap items-center justify-between gap-3 border-t border-line pt-4 pb-[env(safe-area-inset-bottom)]">
        <p className="w-full truncate text-muted">{shellTexts.signedInAs(data.user.email)}</p>
        <ThemeControl name="sheet-theme" />
        <Button onClick={signOut} isBusy={isBusy}>
          <SignOutIcon />
          {shellTexts.signOut}
        </Button>
      </div>
    </Dialog>
  );
}
