import { telemetryLimits } from '../../domain/machines/telemetry.js';
import { fields, instantField, orElse, wholeFrom } from '../http/fields.js';
import {
  count,
  exampleId,
  idOf,
  instant,
  listOf,
  named,
  object,
  orNull,
  type ValueOf,
} from '../http/openapi/json-schema.js';
import { operation, type Operation } from '../http/openapi/operation.js';
import { rentalId, rentalsTag } from './describe.js';
import { telemetrySource } from './idle-guard.js';

const { keptDays, pointsDefault, pointsMax } = telemetryLimits;

export const telemetryQuery = fields({
  from: instantField.description('Default: a day before `to`, or the beginning of billing.'),
  to: instantField.description('Default: now, or the end of billing.'),
  points: orElse(wholeFrom(1, pointsMax), pointsDefault).description(
    'How many points you want at most. One stands for a minute or more.',
  ),
});

const percent = { ...count, maximum: 100 };

const point = named(
  'TelemetryPoint',
  object({
    at: { ...instant, description: 'Its beginning.' },
    gpuPercent: orNull({ ...percent, description: 'The mean of all GPUs.' }),
    busiestGpuPercent: orNull({ ...percent, description: 'The most that the busiest GPU had.' }),
    gpuMemoryPercent: orNull({ ...percent, description: 'How busy the GPUs’ memory was.' }),
    cpuPercent: orNull(percent),
    memoryPercent: orNull(percent),
  }),
);

export const telemetry = named(
  'Telemetry',
  object({
    rentalId: idOf('rent'),
    source: orNull(
      telemetrySource,
      'Who reported it: the provider, or a small script on the machine. Null when nothing was reported.',
    ),
    from: instant,
    to: instant,
    stepSeconds: { ...count, description: 'How long each point is.' },
    points: listOf(point),
  }),
);

export type Telemetry = ValueOf<typeof telemetry>;

const id = exampleId('rent');
const busy = { gpuPercent: 94, busiestGpuPercent: 97, gpuMemoryPercent: 78, cpuPercent: 45 };
const untold = { gpuPercent: null, busiestGpuPercent: null, gpuMemoryPercent: null, cpuPercent: null };

export const showTelemetry = operation({
  method: 'get',
  path: '/v1/rentals/:id/telemetry',
  scope: 'read',
  name: 'showTelemetry',
  tag: rentalsTag,
  summary: 'How much a machine was used',
  description: `How busy its GPUs, processors and memory were, if its provider reports that, or you asked for it by \`telemetry\` or \`stopWhenIdleMinutes\`. Null where nothing was reported. Kept for ${keptDays} days.`,
  parameters: [rentalId],
  query: telemetryQuery,
  answers: [
    {
      description: 'The points, oldest first, without gaps.',
      schema: telemetry,
      examples: [
        {
          rentalId: id,
          source: 'upstream',
          ...{ from: '2026-11-01T09:30:00.000Z', to: '2026-11-01T09:32:00.000Z', stepSeconds: 60 },
          points: [
            { at: '2026-11-01T09:30:00.000Z', ...busy, memoryPercent: 31 },
            { at: '2026-11-01T09:31:00.000Z', ...untold, memoryPercent: null },
          ],
        },
      ],
    },
  ],
  refusals: ['rental_not_found'],
});

export const telemetryOperations: readonly Operation[] = [showTelemetry];
