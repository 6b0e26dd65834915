import { webhookTexts as t } from '../../texts/webhooks.js';
import { Secret } from '../../ui/secret.js';

/** What a receiver answers to its challenge. */
export function ChallengeAnswer() {
  return (
    <div className="mt-1.5">
      <Secret label={t.challengeAnswer} text='{"challenge": <data.challenge>}' copyLabel={t.copyAnswer} />
    </div>
  );
}
