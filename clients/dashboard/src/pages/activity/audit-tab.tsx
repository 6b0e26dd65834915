import type { AuditEvent, components } from '@gpu-rental/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { auditQuery, type AuditKind } from '../../data/audit.js';
import { number } from '../../format/number.js';
import { activityTexts } from '../../texts/activity.js';
import { Feed } from './feed.js';
import { FeedLine } from './feed-line.js';
import { KindFilter } from './kind-filter.js';
import { factsOf } from './told.js';

const { audit } = activityTexts;
const options = Object.entries(audit).map(([value, label]) => ({ value, label }));

/** What was done, by whom and from where. */
export function AuditTab() {
  const { kind: asked } = useSearch({ from: '/app/activity' });
  const navigate = useNavigate({ from: '/app/activity' });
  const kind = isKind(asked) ? asked : undefined;
  const query = useInfiniteQuery(auditQuery(kind));
  const lines = query.data?.pages.flatMap(linesOf) ?? [];
  return (
    <>
      <KindFilter
        label={activityTexts.kind}
        all={activityTexts.allKinds}
        value={kind}
        options={options}
        onChange={(value) => {
          const search = { tab: 'audit' as const, ...(value !== '' && { kind: value }) };
          void navigate({ search, resetScroll: false });
        }}
      />
      <Feed query={query} isFiltered={kind !== undefined} count={lines.length}>
        {lines.map((line) =>
          'tries' in line ? (
            <FailedLine key={line.hour} failed={line} />
          ) : (
            <RecordLine key={line.id} record={line} />
          ),
        )}
      </Feed>
    </>
  );
}

function isKind(text: string | undefined): text is AuditKind {
  return text !== undefined && Object.hasOwn(audit, text);
}

type FailedSignIns = components['schemas']['FailedSignIns'];

/** Puts counted wrong codes among the records of their time, the newest first. */
export function linesOf({
  events,
  failedSignIns,
}: components['schemas']['AuditEventPage']): (AuditEvent | FailedSignIns)[] {
  const timeOf = (line: AuditEvent | FailedSignIns): number =>
    Date.parse('hour' in line ? line.hour : line.at);
  return [...events, ...failedSignIns].sort((a, b) => timeOf(b) - timeOf(a));
}

function FailedLine({ failed: { hour, tries } }: { readonly failed: FailedSignIns }) {
  return (
    <FeedLine
      at={hour}
      title={activityTexts.failedSignIns(number(tries), tries)}
      noun="session"
      notes={[activityTexts.failedNote]}
    />
  );
}

function RecordLine({ record }: { readonly record: AuditEvent }) {
  const { id, kind, entityId, details, apiKeyId, clientAddress, at } = record;
  return (
    <FeedLine
      at={at}
      // A newer service may write kinds that this page does not know.
      title={isKind(kind) ? audit[kind] : activityTexts.unknownEvent(kind)}
      entityId={entityId ?? undefined}
      noun={kind.split('_')[0]}
      id={id}
      facts={factsOf(details)}
      notes={[
        ...(apiKeyId === null ? [] : [activityTexts.byKey(apiKeyId)]),
        ...(clientAddress === null ? [] : [activityTexts.from(clientAddress)]),
      ]}
    />
  );
}
