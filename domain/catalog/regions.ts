/** The broader regions that a renter may ask for (spec: GET /v1/catalog/listings, `region`). */
export type RegionGroup = 'us' | 'eu' | 'apac';

/** ISO 3166-1 alpha-2, all officially assigned codes. */
const COUNTRIES = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
   CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO
   FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE
   JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO
   MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW
   PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM
   TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`.split(/\s+/),
);

/**
 * The countries of each broader region (decision 13, "Live listings"). `eu` is where European data protection law holds
 * or is recognised as adequate: the Union, the European Economic Area, Switzerland and the United Kingdom. That is the
 * meaning of `eu` to renters, and upstreams label Norway and Iceland so too.
 */
const GROUPS: Readonly<Record<RegionGroup, readonly string[]>> = {
  us: ['US'],
  eu: `AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT
    LU MT NL PL PT RO SK SI ES SE IS LI NO CH GB`.split(/\s+/),
  apac: `AU BD BN CN FJ HK ID IN JP KH KR LA LK MM MN MO MY
    NP NZ PG PH PK SG TH TW VN`.split(/\s+/),
};

function isGroup(text: string): text is RegionGroup {
  return Object.hasOwn(GROUPS, text);
}

/** Tells whether a text is an ISO 3166-1 alpha-2 country code in upper case. */
export function isCountryCode(text: string): boolean {
  return COUNTRIES.has(text);
}

/** Tells whether a text names a region: an ISO country code, or us, eu or apac; case does not matter. */
export function isRegion(text: string): boolean {
  return isGroup(text.toLowerCase()) || isCountryCode(text.toUpperCase());
}

/**
 * The country codes of a region, in upper case: itself for a country, the members for us, eu and apac. Empty for a text
 * that is no region, so that a filter by it matches nothing.
 */
export function countriesOf(region: string): readonly string[] {
  const group = region.toLowerCase();
  if (isGroup(group)) return GROUPS[group];
  const country = region.toUpperCase();
  return isCountryCode(country) ? [country] : [];
}
