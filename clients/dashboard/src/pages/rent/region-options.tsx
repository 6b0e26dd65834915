import { countryName } from '../../format/machine.js';
import { rentTexts } from '../../texts/rent.js';

/** The broader regions that the service knows. */
export const regionGroups = ['us', 'eu', 'apac'] as const;

/** The name of a region as people read it; anywhere for none. */
export function regionName(region: string | undefined): string {
  if (region === undefined) return rentTexts.regions.any;
  const group = regionGroups.find((one) => one === region.toLowerCase());
  return group ? rentTexts.regions[group] : countryName(region.toUpperCase());
}

interface RegionOptionsProps {
  /** The codes of the countries that have offers. */
  readonly countries: readonly string[];
  /** What is chosen stands among them, even where nothing is on offer there. */
  readonly chosen: string | undefined;
}

/** The options of a select of regions. */
export function RegionOptions({ countries, chosen }: RegionOptionsProps) {
  const isGroup = regionGroups.some((group) => group === chosen);
  const codes = [...new Set([...countries, ...(chosen === undefined || isGroup ? [] : [chosen])])];
  const sorted = codes
    .map((code) => ({ code, name: countryName(code) }))
    .sort((a, b) => a.name.localeCompare(b.name));
  return (
    <>
      <option value="">{rentTexts.regions.any}</option>
      <optgroup label={rentTexts.regions.groups}>
        {regionGroups.map((group) => (
          <option key={group} value={group}>
            {rentTexts.regions[group]}
          </option>
        ))}
      </optgroup>
      <optgroup label={rentTexts.regions.countries}>
        {sorted.map(({ code, name }) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </optgroup>
    </>
  );
}
