import { useFreshProof } from '../../app/fresh-proof.js';
import { useExport } from '../../data/export.js';
import { exportTexts as t } from '../../texts/export.js';
import { Callout } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { ErrorNote } from '../../ui/states.js';

/** Downloads everything that the service holds of the user. */
export function ExportCard() {
  const { prove, dialog } = useFreshProof();
  const download = useExport(prove);
  return (
    <Card title={t.title}>
      <div className="flex flex-col items-start gap-3">
        <p className="max-w-prose">{t.text}</p>
        <Button isBusy={download.isPending} onClick={() => download.mutate()}>
          {t.button}
        </Button>
        {download.isSuccess && (
          <Callout role="status" tone="good" title={t.begun}>
            {t.begunText}
          </Callout>
        )}
        {download.isError && <ErrorNote error={download.error} />}
      </div>
      {dialog}
    </Card>
  );
}
