import { isCountryCode } from '../../../domain/catalog/regions.js';

/** Country words in region names of the form `city-country-number`, for example `montreal-canada-2`. */
const COUNTRY_WORDS = new Map(
  Object.entries({
    australia: 'AU',
    austria: 'AT',
    belgium: 'BE',
    brazil: 'BR',
    bulgaria: 'BG',
    canada: 'CA',
    czechia: 'CZ',
    denmark: 'DK',
    estonia: 'EE',
    finland: 'FI',
    france: 'FR',
    germany: 'DE',
    iceland: 'IS',
    india: 'IN',
    indonesia: 'ID',
    ireland: 'IE',
    israel: 'IL',
    italy: 'IT',
    japan: 'JP',
    malaysia: 'MY',
    mexico: 'MX',
    netherlands: 'NL',
    norway: 'NO',
    poland: 'PL',
    portugal: 'PT',
    romania: 'RO',
    singapore: 'SG',
    spain: 'ES',
    sweden: 'SE',
    switzerland: 'CH',
    taiwan: 'TW',
    thailand: 'TH',
    uk: 'GB',
    usa: 'US',
    vietnam: 'VN',
  }),
);

/** Region names that follow no common form, by the cloud that uses them: the same name differs between clouds. */
const REGIONS = new Map(
  Object.entries({
    'lambda/asia-northeast-1': 'JP',
    'lambda/asia-northeast-2': 'JP',
    'lambda/asia-south-1': 'IN',
    'lambda/australia-east-1': 'AU',
    'lambda/europe-central-1': 'DE',
    'lambda/me-west-1': 'IL',
    'lambda/us-east-1': 'US',
    'lambda/us-east-2': 'US',
    'lambda/us-east-3': 'US',
    'lambda/us-midwest-1': 'US',
    'lambda/us-midwest-2': 'US',
    'lambda/us-south-1': 'US',
    'lambda/us-south-2': 'US',
    'lambda/us-south-3': 'US',
    'lambda/us-west-1': 'US',
    'lambda/us-west-2': 'US',
    'lambda/us-west-3': 'US',
    'massedcompute/us-central-1': 'US',
    'massedcompute/us-central-2': 'US',
    'massedcompute/us-east-1': 'US',
    'nebius/eu-north1': 'FI',
    'nebius/eu-west1': 'FR',
  }),
);

/**
 * RunPod's data centers, for example US-KS-2, CA-MTL-1, EU-RO-1 or EUR-IS-1. US and CA are followed by a part of the
 * country (US-DE-1 is Delaware), EU, EUR and the like by the country.
 */
const DATA_CENTER = /^(?:(US|CA)-[A-Z]{2,3}|(?:EU|EUR|AP|SEA|OC)-([A-Z]{2}))-\d+$/;

const CITY_COUNTRY_NUMBER = /^[a-z]+-([a-z]+)-\d+$/;
const LEADING_COUNTRY = /^([A-Z]{2}), /;
/** Vast's places: "Texas, US". */
const TRAILING_COUNTRY = /(?:^|, )([A-Z]{2})$/;

/**
 * Finds the ISO country of an upstream's region: by its name in the tables and forms above, or by the code at the start
 * of its label ("US, Kansas City, KS"). undefined when none tells: such an offer is skipped and counted.
 */
export function findCountry(cloud: string, region: string, label: string): string | undefined {
  const word = CITY_COUNTRY_NUMBER.exec(region)?.[1] ?? '';
  const named = REGIONS.get(`${cloud}/${region}`) ?? COUNTRY_WORDS.get(word);
  if (named !== undefined) return named;
  const inDataCenter = cloud === 'runpod' ? DATA_CENTER.exec(region) : null;
  const inLabel = (cloud === 'vast' ? TRAILING_COUNTRY : LEADING_COUNTRY).exec(label);
  const code = firstGroup(inDataCenter) ?? firstGroup(inLabel);
  return code !== undefined && isCountryCode(code) ? code : undefined;
}

function firstGroup(match: RegExpExecArray | null): string | undefined {
  return match?.slice(1).find((group: string | undefined) => group !== undefined);
}
