import { readdirSync, readFileSync } from 'node:fs';

/** The folder of the recorded histories. */
export const historiesDir = new URL('./histories/', import.meta.url);

export interface RecordedHistory {
  readonly name: string;
  /** The workflow's type, from its first event. */
  readonly type: string;
  readonly history: { readonly events: readonly RecordedEvent[] };
}

/** An event in the JSON form that Temporal's tools share. */
export interface RecordedEvent {
  readonly eventType: string;
  readonly workflowExecutionStartedEventAttributes?: { readonly workflowType: { readonly name: string } };
  readonly activityTaskScheduledEventAttributes?: { readonly activityType: { readonly name: string } };
}

/** Every recorded history. */
export function readHistories(): RecordedHistory[] {
  return readdirSync(historiesDir)
    .filter((file) => file.endsWith('.json'))
    .map((file) => {
      const text = readFileSync(new URL(file, historiesDir), 'utf8');
      const history = JSON.parse(text) as RecordedHistory['history'];
      const started = history.events[0]?.workflowExecutionStartedEventAttributes;
      if (!started) throw new Error(`${file} does not begin with the start of a workflow: record it anew`);
      return { name: file.replace(/\.json$/, ''), type: started.workflowType.name, history };
    });
}
