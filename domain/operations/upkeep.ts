/** What is done again and again for the service as a whole, each by a workflow of its own: `upkeep:<duty>`. */
export const upkeepDuties = ['revive', 'redeliver', 'sweep', 'housekeeping'] as const;

export type UpkeepDuty = (typeof upkeepDuties)[number];
