import { Link } from '@tanstack/react-router';
import { errorTexts } from '../texts/errors.js';
import { buttonClasses } from '../ui/button.js';
import { Page } from '../ui/page.js';
import { EmptyState } from '../ui/states.js';

/** An address that leads nowhere. */
export function NotFound() {
  return (
    <Page title={errorTexts.notFoundTitle}>
      <EmptyState
        title={errorTexts.notFound}
        actions={
          <Link to="/app" className={buttonClasses('primary')}>
            {errorTexts.home}
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
