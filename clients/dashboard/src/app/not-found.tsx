import { Link } from '@tanstack/react-router';
import { notFoundTexts as t } from '../texts/not-found.js';
import { buttonClasses } from '../ui/button.js';
import { Page } from '../ui/page.js';
import { EmptyState } from '../ui/states.js';

/** An address that leads nowhere. */
export function NotFound() {
  return (
    <Page title={t.title}>
      <EmptyState
        title={t.text}
        actions={
          <Link to="/app" className={buttonClasses('primary')}>
            {t.home}
          </Link>
        }
      />
    </Page>
  );
}

/** The same where no frame stands around it. */
export function NotFoundAnywhere() {
  return (
    <main className="px-4 py-10">
      <NotFound />
    </main>
  );
}
