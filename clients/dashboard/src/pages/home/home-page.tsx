import { Link } from '@tanstack/react-router';
import { useIsClosing } from '../../data/is-closing.js';
import { homeTexts } from '../../texts/home.js';
import { shellTexts } from '../../texts/shell.js';
import { buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Page } from '../../ui/page.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { AttentionList } from './attention-list.js';
import { FirstSteps } from './first-steps.js';
import { Machines } from './machines.js';
import { Recent } from './recent.js';
import { useHome, type HomeFacts } from './use-home.js';
import { WalletTiles } from './wallet-tiles.js';

/** Everything at a glance: what needs somebody, the money, and the machines. */
export function HomePage() {
  const { facts, error, retry } = useHome();
  const isClosing = useIsClosing();
  return (
    <Page
      title={shellTexts.pages.home}
      actions={
        !isClosing && (
          <>
            <Link to="/app/billing" className={buttonClasses()}>
              {homeTexts.addMoney}
            </Link>
            <Link to="/app/rent" className={buttonClasses('primary')}>
              {homeTexts.rent}
            </Link>
          </>
        )
      }
    >
      {facts ? <Home facts={facts} /> : <HomeSkeleton />}
      {error !== null && <ErrorNote error={error} onRetry={retry} />}
    </Page>
  );
}

function Home({ facts }: { readonly facts: HomeFacts }) {
  const { rentals = [], isNew, keyCount } = facts;
  const isClosing = useIsClosing();
  return (
    <>
      <AttentionList facts={facts} />
      <WalletTiles running={rentals.filter(({ status }) => status === 'running').length} />
      {isNew && !isClosing && <FirstSteps keyCount={keyCount} />}
      {!isNew && (
        <div className="grid items-start gap-5 3xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
          {facts.rentals && <Machines rentals={facts.rentals} />}
          <Recent />
        </div>
      )}
    </>
  );
}

function HomeSkeleton() {
  return (
    <>
      <Card>
        <div className="grid grid-cols-2 gap-x-4 gap-y-5 lg:grid-cols-4">
          {[1, 2, 3, 4].map((tile) => (
            <div key={tile} className="flex h-16 flex-col gap-2">
              <Skeleton className="h-4 w-20" />
              <Skeleton className="h-7 w-28" />
            </div>
          ))}
        </div>
      </Card>
      <Skeleton className="h-56 w-full" />
    </>
  );
}
