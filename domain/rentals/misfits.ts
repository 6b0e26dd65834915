import type { TelemetryTold } from '../machines/telemetry.js';
import { telemetryMisfitsOf, type AskedTelemetry, type GuardMisfit } from './idle-guard.js';
import {
  keyMisfitsOf,
  misfitsOf,
  type AskedKeys,
  type Misfit,
  type SoftwareCapabilities,
} from './software.js';

/** What is judged of a wish for a machine: its own software, its SSH keys, told use and a guard. */
export interface JudgedWish extends AskedTelemetry, AskedKeys {
  readonly templateId: string;
}

/** What an upstream tells of itself; absent or null: it takes no own software, or tells no use. */
export interface ToldAbilities {
  readonly software?: SoftwareCapabilities | null | undefined;
  readonly telemetry?: TelemetryTold | null | undefined;
}

/** Lists all that an upstream can't do of a wish. A quote and its order are judged by this alone. */
export function misfitsOfWish(
  wish: JudgedWish,
  { software: able, telemetry }: ToldAbilities,
): (Misfit | GuardMisfit)[] {
  return [
    ...(wish.software ? misfitsOf(wish.software, able ?? undefined, wish.templateId) : []),
    ...keyMisfitsOf(wish, able),
    ...telemetryMisfitsOf(wish, telemetry),
  ];
}
