import { useNavigate, useSearch } from '@tanstack/react-router';
import { activityTexts } from '../../texts/activity.js';
import { shellTexts } from '../../texts/shell.js';
import { Page } from '../../ui/page.js';
import { Segmented } from '../../ui/segmented.js';
import { AuditTab } from './audit-tab.js';
import { EventsTab } from './events-tab.js';

const { tabs } = activityTexts;

const options = [
  { value: 'events', label: tabs.events },
  { value: 'audit', label: tabs.audit },
] as const;

/** What happened to the account, and what was done to it. */
export function ActivityPage() {
  const { tab } = useSearch({ from: '/app/activity' });
  const navigate = useNavigate({ from: '/app/activity' });
  return (
    <Page title={shellTexts.pages.activity} lead={activityTexts.lead} className="max-w-4xl">
      <Segmented
        label={activityTexts.tab}
        value={tab ?? 'events'}
        options={options}
        onChange={(value) =>
          void navigate({ search: value === 'audit' ? { tab: value } : {}, resetScroll: false })
        }
        className="w-full sm:w-80"
      />
      {tab === 'audit' ? <AuditTab /> : <EventsTab />}
    </Page>
  );
}
