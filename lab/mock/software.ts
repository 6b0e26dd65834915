import { misfitsOfWish } from '../../domain/rentals/misfits.js';
import { mockTelemetry } from './telemetry.js';
import type { ProviderMisfit } from '../../adapters/postgres/catalog/provider-health.js';
import type { SecretKeeper } from '../../api/rentals/software-fields.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { shadeformSoftware } from '../../adapters/providers/shadeform/shadeform-software.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { outlineOf, softwareLimits, type SoftwareCapabilities } from '../../domain/rentals/software.js';

/** Nobody runs it here, so what is secret is kept nowhere. */
export const forgetting: SecretKeeper = {
  makesTokens: true,
  seal: (software) => ({ outline: outlineOf(software, null), secrets: null }),
};

/** What the mock's upstream can do: as much as machines that run containers, with a disk of any size. */
const able: SoftwareCapabilities = { ...shadeformSoftware, diskMaxGb: softwareLimits.diskMaxGb };

/** What the upstream of a listing can't do of a request. */
export function misfitsFor(
  { provider_code: providerCode }: ListingRow,
  request: RentalRequest,
): ProviderMisfit[] {
  const misfits = misfitsOfWish(request, { software: able, telemetry: mockTelemetry });
  return misfits.map((misfit) => ({ ...misfit, providerCode }));
}
