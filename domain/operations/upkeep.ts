/** The recurring work for the service as a whole, each by its own workflow: `upkeep:<duty>`. */
export const upkeepDuties = [
  'revive',
  'redeliver',
  'sweep',
  'housekeeping',
  'reliability',
  'sealing',
] as const;

export type UpkeepDuty = (typeof upkeepDuties)[number];
